// Everything at once, so that each purchase sees the budget before the others are counted.

export default {
  name: "budget race",
  tries: "twenty purchases of five cents at the same moment under a budget of thirty cents",
  known: "limiters that check before they count (Sapiom); x402-redteam `budget_split`",
  needs: ["budget"],
  async play(stage) {
    const shop = await stage.honest(50_000n);
    await stage.ready();
    const wanted = Array.from({ length: 20 }, (_, number) =>
      stage.want({ url: `${shop.origin}/goods?number=${number}` }, { allow: 50_000n }));
    await Promise.all(wanted);
  },
};
