// Every attack, in the order of the tables. Each is a file of its own that says what it tries, where that is known from, which
// promise would stop it (`needs`: any one of them), and plays it on a stage.

import acceptsOrder from "./offer-order.mjs";
import amountInHex from "./amount-in-hex.mjs";
import approvalForgery from "./approval-forgery.mjs";
import assetOfTwoDecimals from "./asset-of-two-decimals.mjs";
import bombBehindPayment from "./bomb-behind-payment.mjs";
import bombBeforePayment from "./bomb-before-payment.mjs";
import budgetDrain from "./budget-drain.mjs";
import budgetRace from "./budget-race.mjs";
import clockLongLife from "./clock-long-life.mjs";
import crashAfterSigning from "./crash-after-signing.mjs";
import deliveredNothing from "./settled-then-error.mjs";
import drip from "./drip.mjs";
import headerBodyConflict from "./header-body-conflict.mjs";
import lookAlike from "./look-alike.mjs";
import lyingSettlement from "./lying-settlement.mjs";
import payeeSwap from "./payee-swap.mjs";
import payeeSwapLater from "./payee-swap-later.mjs";
import priceOverADollar from "./price-over-a-dollar.mjs";
import priceOverCap from "./price-over-cap.mjs";
import priceRaised from "./price-raised.mjs";
import rebinding from "./rebinding.mjs";
import redirectBefore from "./redirect-before.mjs";
import redirectPaid from "./redirect-paid.mjs";
import replay from "./replay.mjs";
import retryStorm from "./retry-storm.mjs";
import secondCharge from "./second-402.mjs";

export const ATTACKS = [
  payeeSwap, payeeSwapLater, lookAlike, redirectBefore, rebinding,
  priceOverADollar, priceOverCap, priceRaised, amountInHex, acceptsOrder, assetOfTwoDecimals, headerBodyConflict,
  secondCharge, lyingSettlement, deliveredNothing, retryStorm, redirectPaid, replay, crashAfterSigning,
  budgetRace, budgetDrain, approvalForgery, clockLongLife,
  bombBeforePayment, bombBehindPayment, drip,
];

/** A handful that stands for the rest, for every run of the tests. */
export const QUICK = [payeeSwapLater, priceRaised, assetOfTwoDecimals, lyingSettlement, retryStorm, crashAfterSigning, budgetRace];
