// A price as the JavaScript sellers of the second generation take it.

import { FOREIGN } from "../lab/constants.mjs";

/** In dollars, or in units of a token of which the library has to be told everything. */
export function priceOf({ price, units, foreign }) {
  const { address, name, version } = FOREIGN;
  return foreign ? { asset: address, amount: String(units), extra: { name, version } } : price;
}
