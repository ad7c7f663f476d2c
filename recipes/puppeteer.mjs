// Glue for Puppeteer: pays for one page over bursar's glue socket.
//
// The header goes onto one request: this URL, GET, the page itself, not where another answer led. Where the answer leads
// somewhere else, the next request is stopped.

/** Makes one payment that `glue.next()` gave, in `page`. Resolves to the receipt, or to nothing where nothing was redeemed. */
export async function pay(page, glue, { handle, url, open, expires_in_s }) {
  let taken;
  let settle;
  const asked = new Promise((resolve) => (settle = resolve));
  let told = false;
  const report = (what) => {
    if (told) return;
    told = true;
    settle(glue.report(handle, what));
  };

  const onRequest = async (request) => {
    if (taken && request.redirectChain().includes(taken)) return request.abort("blockedbyclient");
    if (taken || !isThePage(request, page, url)) return request.continue();
    taken = request;
    let header;
    try {
      header = await glue.redeem(handle, request.url());
    } catch {
      settle(undefined); // not paid for: the page says what it wants
      return request.continue();
    }
    await request.continue({ headers: { ...request.headers(), [header.name]: header.value } });
  };
  const onResponse = (response) => {
    if (response.request() === taken) report({ status: response.status(), headers: response.headers() });
  };
  const onFailed = (request) => {
    if (request === taken && !request.response()) report({ why: "browser_failed" });
  };

  await page.setRequestInterception(true);
  await page.setCacheEnabled(false);
  await page.setBypassServiceWorker(true);
  page.on("request", onRequest).on("response", onResponse).on("requestfailed", onFailed);
  try {
    await glue.armed(handle);
    // How it went is told by the answer to the request.
    const opened = open === "navigate" ? page.goto(url).catch(() => {}) : undefined;
    await Promise.race([asked, after(open === "navigate" ? 20 : expires_in_s)]);
    if (!taken) {
      taken = "nobody any more";
      await glue.refuse(handle, "timeout");
      return undefined;
    }
    const timer = setTimeout(() => report({ why: "timeout_first_byte" }), 30_000);
    const receipt = await asked;
    clearTimeout(timer);
    await opened;
    return receipt;
  } finally {
    page.off("request", onRequest).off("response", onResponse).off("requestfailed", onFailed);
    await page.setRequestInterception(false).catch(() => {});
    await page.setCacheEnabled(true).catch(() => {});
    await page.setBypassServiceWorker(false).catch(() => {});
  }
}

function isThePage(request, page, url) {
  return request.url() === url && request.method() === "GET" && request.isNavigationRequest()
    && request.frame() === page.mainFrame() && request.redirectChain().length === 0;
}

const after = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000).unref());
