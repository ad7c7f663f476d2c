// Glue for Playwright: pays for pages of a browser context over bursar's glue socket.
//
// The header goes onto one request: this URL, GET, the page itself, not where another answer led. Playwright would take
// headers that a route adds along to where the answer leads, so the request is made by `route.fetch` without redirects.

/** Makes one payment that `glue.next()` gave. Resolves to the receipt, or to nothing where nothing was redeemed. */
export async function pay(context, glue, { handle, url, open, expires_in_s }) {
  let taken = false;
  let paid;
  const asked = new Promise((resolve) => {
    paid = async (route, request) => {
      if (taken || !isThePage(request, url)) return route.fallback();
      taken = true;
      resolve(redeem(route, request));
    };
  });
  const redeem = async (route, request) => {
    let header;
    try {
      header = await glue.redeem(handle, request.url());
    } catch {
      return void (await route.fallback()); // not paid for: the page says what it wants
    }
    try {
      const headers = { ...(await request.allHeaders()), [header.name]: header.value };
      const answer = await route.fetch({ headers, maxRedirects: 0, maxRetries: 0, timeout: 30_000 });
      const moved = answer.status() >= 300 && answer.status() < 400;
      await (moved ? route.abort("blockedbyclient") : route.fulfill({ response: answer }));
      return await glue.report(handle, { status: answer.status(), headers: answer.headers() });
    } catch {
      await route.abort().catch(() => {});
      return await glue.report(handle, { why: "browser_failed" });
    }
  };

  const exactly = (address) => address.href === url;
  await context.route(exactly, paid);
  try {
    await glue.armed(handle);
    if (open === "navigate") {
      const page = context.pages().find((page) => sameOrigin(page.url(), url)) ?? (await context.newPage());
      page.goto(url).catch(() => {}); // how it went is reported by whoever answers the request
    }
    await Promise.race([asked, after(open === "navigate" ? 20 : expires_in_s)]);
    if (taken) return await asked;
    taken = true;
    await glue.refuse(handle, "timeout");
  } finally {
    await context.unroute(exactly, paid).catch(() => {});
  }
}

function isThePage(request, url) {
  const plain = request.url() === url && request.method() === "GET" && request.isNavigationRequest();
  return plain && request.redirectedFrom() === null && inMainFrame(request);
}

/** A window that is just opening has no frame yet that could be told from an inner one; then it is not the page. */
function inMainFrame(request) {
  try {
    return request.frame().parentFrame() === null;
  } catch {
    return false;
  }
}

function sameOrigin(one, other) {
  return URL.canParse(one) && new URL(one).origin === new URL(other).origin;
}

const after = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000).unref());
