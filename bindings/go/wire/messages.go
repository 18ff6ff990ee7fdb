// Code generated: made from the table of fields: see wire/tests/bindings.rs. DO NOT EDIT.

package wire

import "unsafe"

// Version of the messages.
const Version = 12

// AccountAction: What happens to an account.
type AccountAction uint8

const (
	// Money comes in.
	AccountActionDeposit AccountAction = 1
	// Money goes out.
	AccountActionWithdraw AccountAction = 2
	// No new orders and no withdrawals.
	AccountActionFreeze AccountAction = 3
	// Ends a freeze.
	AccountActionUnfreeze AccountAction = 4
	// The end of an account that is empty.
	AccountActionClose AccountAction = 5
	// No new orders, and everything that works is cancelled.
	AccountActionKill AccountAction = 6
	// Ends a kill.
	AccountActionRevive AccountAction = 7
)

func (v AccountAction) String() string {
	switch v {
	case AccountActionDeposit:
		return "deposit"
	case AccountActionWithdraw:
		return "withdraw"
	case AccountActionFreeze:
		return "freeze"
	case AccountActionUnfreeze:
		return "unfreeze"
	case AccountActionClose:
		return "close"
	case AccountActionKill:
		return "kill"
	case AccountActionRevive:
		return "revive"
	}
	return unlisted("AccountAction", uint8(v))
}

// IsListed is false for a value that no member has.
func (v AccountAction) IsListed() bool {
	return v-1 < 7
}

// AccountKind: By which rules an account trades.
type AccountKind uint8

const (
	// Pays for what it buys, and sells only what it holds.
	AccountKindCash AccountKind = 1
	// Long or short in an instrument; margin is frozen, profit and loss is paid when a position is closed.
	AccountKindMargin AccountKind = 2
	// Long and short apart, today's and yesterday's apart; margin is frozen, variation is paid at settlement.
	AccountKindFutures AccountKind = 3
)

func (v AccountKind) String() string {
	switch v {
	case AccountKindCash:
		return "cash"
	case AccountKindMargin:
		return "margin"
	case AccountKindFutures:
		return "futures"
	}
	return unlisted("AccountKind", uint8(v))
}

// IsListed is false for a value that no member has.
func (v AccountKind) IsListed() bool {
	return v-1 < 3
}

// AccountScope: What a change or a limit is of.
type AccountScope uint8

const (
	// One account.
	AccountScopeAccount AccountScope = 1
	// All accounts of a group.
	AccountScopeGroup AccountScope = 2
	// All orders of a strategy, for whichever account.
	AccountScopeStrategy AccountScope = 3
	// Everything.
	AccountScopePlatform AccountScope = 4
)

func (v AccountScope) String() string {
	switch v {
	case AccountScopeAccount:
		return "account"
	case AccountScopeGroup:
		return "group"
	case AccountScopeStrategy:
		return "strategy"
	case AccountScopePlatform:
		return "platform"
	}
	return unlisted("AccountScope", uint8(v))
}

// IsListed is false for a value that no member has.
func (v AccountScope) IsListed() bool {
	return v-1 < 4
}

// Aggressor: Who caused a trade in the market.
type Aggressor uint8

const (
	// A buy order came in.
	AggressorBuy Aggressor = 1
	// A sell order came in.
	AggressorSell Aggressor = 2
	// An auction, or the source does not say.
	AggressorNone Aggressor = 3
)

func (v Aggressor) String() string {
	switch v {
	case AggressorBuy:
		return "buy"
	case AggressorSell:
		return "sell"
	case AggressorNone:
		return "none"
	}
	return unlisted("Aggressor", uint8(v))
}

// IsListed is false for a value that no member has.
func (v Aggressor) IsListed() bool {
	return v-1 < 3
}

// BookAction: What an event in the market's order flow does to its book.
type BookAction uint8

const (
	// A new resting order, behind all others at its price.
	BookActionAdd BookAction = 1
	// `quantity` of the order is taken away by its owner; it keeps its place.
	BookActionReduce BookAction = 2
	// The order is deleted by its owner.
	BookActionDelete BookAction = 3
	// `quantity` of the resting order traded, at `price`.
	BookActionExecute BookAction = 4
	// Price, quantity or both are set anew; the source's rule for the place in the queue is in `flags`.
	BookActionModify BookAction = 5
	// A trade that touches no visible order (hidden order, cross, auction against unseen volume).
	BookActionTrade BookAction = 6
	// The book of this instrument is empty from here.
	BookActionClear BookAction = 7
)

func (v BookAction) String() string {
	switch v {
	case BookActionAdd:
		return "add"
	case BookActionReduce:
		return "reduce"
	case BookActionDelete:
		return "delete"
	case BookActionExecute:
		return "execute"
	case BookActionModify:
		return "modify"
	case BookActionTrade:
		return "trade"
	case BookActionClear:
		return "clear"
	}
	return unlisted("BookAction", uint8(v))
}

// IsListed is false for a value that no member has.
func (v BookAction) IsListed() bool {
	return v-1 < 7
}

// ChargeKind: Who gets a charge.
type ChargeKind uint8

const (
	// Broker or exchange.
	ChargeKindFee ChargeKind = 1
	// The state.
	ChargeKindTax ChargeKind = 2
)

func (v ChargeKind) String() string {
	switch v {
	case ChargeKindFee:
		return "fee"
	case ChargeKindTax:
		return "tax"
	}
	return unlisted("ChargeKind", uint8(v))
}

// IsListed is false for a value that no member has.
func (v ChargeKind) IsListed() bool {
	return v-1 < 2
}

// CostMethod: Which cost leaves when part of a position is closed.
type CostMethod uint8

const (
	// The average of what is open on that side.
	CostMethodAverage CostMethod = 1
	// That of the oldest.
	CostMethodFifo CostMethod = 2
	// The average of that day; settlement sets it to the settlement price.
	CostMethodSettlement CostMethod = 3
)

func (v CostMethod) String() string {
	switch v {
	case CostMethodAverage:
		return "average"
	case CostMethodFifo:
		return "fifo"
	case CostMethodSettlement:
		return "settlement"
	}
	return unlisted("CostMethod", uint8(v))
}

// IsListed is false for a value that no member has.
func (v CostMethod) IsListed() bool {
	return v-1 < 3
}

// FeeEvent: Which fills a charge is made for, by what they do to the position.
type FeeEvent uint8

const (
	// All.
	FeeEventAny FeeEvent = 1
	// What opens.
	FeeEventOpen FeeEvent = 2
	// What closes a position of an earlier day.
	FeeEventClose FeeEvent = 3
	// What closes a position of today.
	FeeEventCloseToday FeeEvent = 4
)

func (v FeeEvent) String() string {
	switch v {
	case FeeEventAny:
		return "any"
	case FeeEventOpen:
		return "open"
	case FeeEventClose:
		return "close"
	case FeeEventCloseToday:
		return "close-today"
	}
	return unlisted("FeeEvent", uint8(v))
}

// IsListed is false for a value that no member has.
func (v FeeEvent) IsListed() bool {
	return v-1 < 4
}

// FeeSide: Which fills a charge is made for.
type FeeSide uint8

const (
	// All.
	FeeSideBoth FeeSide = 1
	// Purchases.
	FeeSideBuy FeeSide = 2
	// Sales.
	FeeSideSell FeeSide = 3
)

func (v FeeSide) String() string {
	switch v {
	case FeeSideBoth:
		return "both"
	case FeeSideBuy:
		return "buy"
	case FeeSideSell:
		return "sell"
	}
	return unlisted("FeeSide", uint8(v))
}

// IsListed is false for a value that no member has.
func (v FeeSide) IsListed() bool {
	return v-1 < 3
}

// LimitChange: What an `AccountLimit` does.
type LimitChange uint8

const (
	// Sets the limit.
	LimitChangeSet LimitChange = 1
	// There is no such limit any more.
	LimitChangeLift LimitChange = 2
	// The check as a whole is made; only of the whole platform.
	LimitChangeEnable LimitChange = 3
	// The check as a whole is not made; only of the whole platform.
	LimitChangeDisable LimitChange = 4
)

func (v LimitChange) String() string {
	switch v {
	case LimitChangeSet:
		return "set"
	case LimitChangeLift:
		return "lift"
	case LimitChangeEnable:
		return "enable"
	case LimitChangeDisable:
		return "disable"
	}
	return unlisted("LimitChange", uint8(v))
}

// IsListed is false for a value that no member has.
func (v LimitChange) IsListed() bool {
	return v-1 < 4
}

// LimitKind: What is limited.
type LimitKind uint8

const (
	// The position in an instrument if everything that works on one side fills: `number`.
	LimitKindPosition LimitKind = 1
	// What all positions and working orders are worth together: `amount`.
	LimitKindGrossNotional LimitKind = 2
	// The quantity of one order: `number`.
	LimitKindOrderQuantity LimitKind = 3
	// What one order is worth: `amount`.
	LimitKindOrderNotional LimitKind = 4
	// New orders a second: `number`, of which `burst` may come at once.
	LimitKindOrderRate LimitKind = 5
	// Requests of all kinds a second: `number`, of which `burst` may come at once.
	LimitKindMessageRate LimitKind = 6
	// Orders that work at once: `number`.
	LimitKindOpenOrders LimitKind = 7
	// What may be lost in a day: `amount`. Past it, the kill switch falls.
	LimitKindLoss LimitKind = 8
	// Refused orders a second: `number`, of which `burst` may come at once. Past it, the kill switch falls.
	LimitKindRejectRate LimitKind = 9
	// New orders a second: `number`, of which `burst` may come at once. Past it, the kill switch falls.
	LimitKindRunawayRate LimitKind = 10
	// Margin as a part of equity, in 1e-9, from which on more money is asked for: `number`.
	LimitKindMarginCall LimitKind = 11
	// Margin as a part of equity, in 1e-9, from which on positions are closed by force: `number`.
	LimitKindForcedLiquidation LimitKind = 12
	// No limit of its own: the check of money and margin.
	LimitKindMoney LimitKind = 13
	// No limit of its own: the check of the price band.
	LimitKindPriceBand LimitKind = 14
	// No limit of its own: the check of self-trades.
	LimitKindSelfTrade LimitKind = 15
	// No limit of its own: the check of short sales.
	LimitKindShortSale LimitKind = 16
)

func (v LimitKind) String() string {
	switch v {
	case LimitKindPosition:
		return "position"
	case LimitKindGrossNotional:
		return "gross-notional"
	case LimitKindOrderQuantity:
		return "order-quantity"
	case LimitKindOrderNotional:
		return "order-notional"
	case LimitKindOrderRate:
		return "order-rate"
	case LimitKindMessageRate:
		return "message-rate"
	case LimitKindOpenOrders:
		return "open-orders"
	case LimitKindLoss:
		return "loss"
	case LimitKindRejectRate:
		return "reject-rate"
	case LimitKindRunawayRate:
		return "runaway-rate"
	case LimitKindMarginCall:
		return "margin-call"
	case LimitKindForcedLiquidation:
		return "forced-liquidation"
	case LimitKindMoney:
		return "money"
	case LimitKindPriceBand:
		return "price-band"
	case LimitKindSelfTrade:
		return "self-trade"
	case LimitKindShortSale:
		return "short-sale"
	}
	return unlisted("LimitKind", uint8(v))
}

// IsListed is false for a value that no member has.
func (v LimitKind) IsListed() bool {
	return v-1 < 16
}

// Liquidity: Whether a fill gave or took liquidity.
type Liquidity uint8

const (
	// The order rested.
	LiquidityMaker Liquidity = 1
	// The order came in.
	LiquidityTaker Liquidity = 2
)

func (v Liquidity) String() string {
	switch v {
	case LiquidityMaker:
		return "maker"
	case LiquidityTaker:
		return "taker"
	}
	return unlisted("Liquidity", uint8(v))
}

// IsListed is false for a value that no member has.
func (v Liquidity) IsListed() bool {
	return v-1 < 2
}

// NodeChange: What happened to a node.
type NodeChange uint8

const (
	// Registered and about to run.
	NodeChangeJoined NodeChange = 1
	// Stopped in good order. After `Died`, of the gateway: no other process takes its seat.
	NodeChangeLeft NodeChange = 2
	// Found dead.
	NodeChangeDied NodeChange = 3
	// Stopped by a person who has asked that its orders work on.
	NodeChangePaused NodeChange = 4
)

func (v NodeChange) String() string {
	switch v {
	case NodeChangeJoined:
		return "joined"
	case NodeChangeLeft:
		return "left"
	case NodeChangeDied:
		return "died"
	case NodeChangePaused:
		return "paused"
	}
	return unlisted("NodeChange", uint8(v))
}

// IsListed is false for a value that no member has.
func (v NodeChange) IsListed() bool {
	return v-1 < 4
}

// NodeRole: What a node is.
type NodeRole uint8

const (
	// A strategy.
	NodeRoleStrategy NodeRole = 1
	// md, td, matching, ledger or another part of the platform.
	NodeRolePlatform NodeRole = 2
)

func (v NodeRole) String() string {
	switch v {
	case NodeRoleStrategy:
		return "strategy"
	case NodeRolePlatform:
		return "platform"
	}
	return unlisted("NodeRole", uint8(v))
}

// IsListed is false for a value that no member has.
func (v NodeRole) IsListed() bool {
	return v-1 < 2
}

// OrderStatus: Where an order stands. `Rejected`, `Cancelled` and `Filled` are final.
type OrderStatus uint8

const (
	// In the book (or about to trade).
	OrderStatusAccepted OrderStatus = 1
	// Some of it has traded.
	OrderStatusPartiallyFilled OrderStatus = 2
	// All of it has traded.
	OrderStatusFilled OrderStatus = 3
	// Ended before it was filled in full; `Reason` says why.
	OrderStatusCancelled OrderStatus = 4
	// Not accepted; `Reason` says why.
	OrderStatusRejected OrderStatus = 5
	// Price or quantity changed as asked.
	OrderStatusReplaced OrderStatus = 6
	// A cancel was refused; the order, if there is one, stands as it was.
	OrderStatusCancelRejected OrderStatus = 7
	// A replace was refused; the order, if there is one, stands as it was.
	OrderStatusReplaceRejected OrderStatus = 8
	// Self-trade prevention took part of it away, without a trade; it goes on with what is left.
	OrderStatusReduced OrderStatus = 9
	// A stop was triggered: from now on it is like an order that has just come in.
	OrderStatusTriggered OrderStatus = 10
	// A mass cancel was carried out. The order id is that of the request, `quantity` is how many orders it cancelled, and `remaining` how many it left because their market takes no cancels now.
	OrderStatusMassCancelled OrderStatus = 11
)

func (v OrderStatus) String() string {
	switch v {
	case OrderStatusAccepted:
		return "accepted"
	case OrderStatusPartiallyFilled:
		return "partially-filled"
	case OrderStatusFilled:
		return "filled"
	case OrderStatusCancelled:
		return "cancelled"
	case OrderStatusRejected:
		return "rejected"
	case OrderStatusReplaced:
		return "replaced"
	case OrderStatusCancelRejected:
		return "cancel-rejected"
	case OrderStatusReplaceRejected:
		return "replace-rejected"
	case OrderStatusReduced:
		return "reduced"
	case OrderStatusTriggered:
		return "triggered"
	case OrderStatusMassCancelled:
		return "mass-cancelled"
	}
	return unlisted("OrderStatus", uint8(v))
}

// IsListed is false for a value that no member has.
func (v OrderStatus) IsListed() bool {
	return v-1 < 11
}

// OrderType: How an order's price is meant.
type OrderType uint8

const (
	// Trades at its price or better.
	OrderTypeLimit OrderType = 1
	// Trades at whatever rests; what finds nothing is cancelled.
	OrderTypeMarket OrderType = 2
	// Waits until a trade reaches its trigger, then is a market order.
	OrderTypeStop OrderType = 3
	// Waits until a trade reaches its trigger, then is a limit order.
	OrderTypeStopLimit OrderType = 4
)

func (v OrderType) String() string {
	switch v {
	case OrderTypeLimit:
		return "limit"
	case OrderTypeMarket:
		return "market"
	case OrderTypeStop:
		return "stop"
	case OrderTypeStopLimit:
		return "stop-limit"
	}
	return unlisted("OrderType", uint8(v))
}

// IsListed is false for a value that no member has.
func (v OrderType) IsListed() bool {
	return v-1 < 4
}

// Reason: Why an order was rejected or cancelled.
type Reason uint8

const (
	// Nothing to explain.
	ReasonNone Reason = 1
	// Its owner asked for it.
	ReasonRequested Reason = 2
	// The instrument is not listed.
	ReasonUnknownInstrument Reason = 3
	// The price is no multiple of the tick.
	ReasonOffTick Reason = 4
	// The price lies outside the allowed band.
	ReasonPriceBand Reason = 5
	// The quantity is not positive, not a multiple of the lot, or over the limit for one order.
	ReasonQuantity Reason = 6
	// The strategy has too many working orders.
	ReasonWorkingOrders Reason = 7
	// The order could take the strategy's position over its limit.
	ReasonPositionLimit Reason = 8
	// Immediate-or-cancel, or market: the book had no more to give.
	ReasonNoLiquidity Reason = 9
	// Fill-or-kill could not be filled whole.
	ReasonNotFillable Reason = 10
	// Post-only would have traded at once.
	ReasonWouldTrade Reason = 11
	// No such order, or no longer.
	ReasonUnknownOrder Reason = 12
	// The order belongs to another strategy.
	ReasonNotYours Reason = 13
	// The id was used before.
	ReasonDuplicateOrder Reason = 14
	// The strategy has stopped or died.
	ReasonStrategyGone Reason = 15
	// The market is not open for this.
	ReasonMarketClosed Reason = 16
	// The bytes are no valid order.
	ReasonMalformed Reason = 17
	// The gateway is too far behind to take more.
	ReasonOverload Reason = 18
	// The market is in a call auction, in which orders of strategies take no part.
	ReasonCallAuction Reason = 19
	// The strategy may not trade for this account.
	ReasonUnknownAccount Reason = 20
	// It would have traded with an order of the same owner.
	ReasonSelfTrade Reason = 21
	// Its time is over: the market has closed, its auction has ended, or its date has come.
	ReasonExpired Reason = 22
	// This market does not know such orders.
	ReasonUnsupported Reason = 23
	// What would be said of it could not be put on disk: a recorder's disk takes nothing, or the recorder is gone for good.
	ReasonNotDurable Reason = 24
	// The account has not enough money or margin for it.
	ReasonInsufficientFunds Reason = 25
	// What positions and working orders are worth could grow over a limit.
	ReasonNotionalLimit Reason = 26
	// The order is worth more than one order may be.
	ReasonOrderNotional Reason = 27
	// Too many orders in a short time.
	ReasonOrderRate Reason = 28
	// Too many requests in a short time.
	ReasonMessageRate Reason = 29
	// It would sell what is not held, and may not.
	ReasonShortSale Reason = 30
	// The instrument takes no orders now.
	ReasonNotTradable Reason = 31
	// The account is frozen.
	ReasonAccountFrozen Reason = 32
	// The account is closed.
	ReasonAccountClosed Reason = 33
	// The kill switch of the account, its group, the strategy or the platform has fallen.
	ReasonKilled Reason = 34
	// It would close more than there is to close.
	ReasonNotClosable Reason = 35
	// A market order, and no price is known beyond which it cannot trade.
	ReasonNoWorstPrice Reason = 36
	// Margin is too large a part of what the account is worth: positions are closed by force.
	ReasonForcedLiquidation Reason = 37
)

func (v Reason) String() string {
	switch v {
	case ReasonNone:
		return "none"
	case ReasonRequested:
		return "requested"
	case ReasonUnknownInstrument:
		return "unknown-instrument"
	case ReasonOffTick:
		return "off-tick"
	case ReasonPriceBand:
		return "price-band"
	case ReasonQuantity:
		return "quantity"
	case ReasonWorkingOrders:
		return "working-orders"
	case ReasonPositionLimit:
		return "position-limit"
	case ReasonNoLiquidity:
		return "no-liquidity"
	case ReasonNotFillable:
		return "not-fillable"
	case ReasonWouldTrade:
		return "would-trade"
	case ReasonUnknownOrder:
		return "unknown-order"
	case ReasonNotYours:
		return "not-yours"
	case ReasonDuplicateOrder:
		return "duplicate-order"
	case ReasonStrategyGone:
		return "strategy-gone"
	case ReasonMarketClosed:
		return "market-closed"
	case ReasonMalformed:
		return "malformed"
	case ReasonOverload:
		return "overload"
	case ReasonCallAuction:
		return "call-auction"
	case ReasonUnknownAccount:
		return "unknown-account"
	case ReasonSelfTrade:
		return "self-trade"
	case ReasonExpired:
		return "expired"
	case ReasonUnsupported:
		return "unsupported"
	case ReasonNotDurable:
		return "not-durable"
	case ReasonInsufficientFunds:
		return "insufficient-funds"
	case ReasonNotionalLimit:
		return "notional-limit"
	case ReasonOrderNotional:
		return "order-notional"
	case ReasonOrderRate:
		return "order-rate"
	case ReasonMessageRate:
		return "message-rate"
	case ReasonShortSale:
		return "short-sale"
	case ReasonNotTradable:
		return "not-tradable"
	case ReasonAccountFrozen:
		return "account-frozen"
	case ReasonAccountClosed:
		return "account-closed"
	case ReasonKilled:
		return "killed"
	case ReasonNotClosable:
		return "not-closable"
	case ReasonNoWorstPrice:
		return "no-worst-price"
	case ReasonForcedLiquidation:
		return "forced-liquidation"
	}
	return unlisted("Reason", uint8(v))
}

// IsListed is false for a value that no member has.
func (v Reason) IsListed() bool {
	return v-1 < 37
}

// Side: Which side of the book.
type Side uint8

const (
	// Buys; rests among the bids.
	SideBuy Side = 1
	// Sells; rests among the asks.
	SideSell Side = 2
)

func (v Side) String() string {
	switch v {
	case SideBuy:
		return "buy"
	case SideSell:
		return "sell"
	}
	return unlisted("Side", uint8(v))
}

// IsListed is false for a value that no member has.
func (v Side) IsListed() bool {
	return v-1 < 2
}

// TimeInForce: How long an order lives.
type TimeInForce uint8

const (
	// Rests until cancelled.
	TimeInForceDay TimeInForce = 1
	// Trades what it can at once; the rest is cancelled.
	TimeInForceIoc TimeInForce = 2
	// Trades in full at once, or not at all.
	TimeInForceFok TimeInForce = 3
	// Rests, and is rejected if any of it would trade at once.
	TimeInForcePostOnly TimeInForce = 4
	// Rests until cancelled, also over the end of a day.
	TimeInForceGtc TimeInForce = 5
	// Rests until cancelled, or its date.
	TimeInForceGtd TimeInForce = 6
	// Takes part in the opening auction only.
	TimeInForceAtTheOpen TimeInForce = 7
	// Takes part in the closing auction only.
	TimeInForceAtTheClose TimeInForce = 8
)

func (v TimeInForce) String() string {
	switch v {
	case TimeInForceDay:
		return "day"
	case TimeInForceIoc:
		return "ioc"
	case TimeInForceFok:
		return "fok"
	case TimeInForcePostOnly:
		return "post-only"
	case TimeInForceGtc:
		return "gtc"
	case TimeInForceGtd:
		return "gtd"
	case TimeInForceAtTheOpen:
		return "at-the-open"
	case TimeInForceAtTheClose:
		return "at-the-close"
	}
	return unlisted("TimeInForce", uint8(v))
}

// IsListed is false for a value that no member has.
func (v TimeInForce) IsListed() bool {
	return v-1 < 8
}

// TradingPhase: What an instrument's market is doing.
type TradingPhase uint8

const (
	// Before or after the day.
	TradingPhaseClosed TradingPhase = 1
	// Orders are collected for the opening auction; no price is indicated yet.
	TradingPhasePreOpen TradingPhase = 2
	// Orders are collected for the opening auction.
	TradingPhaseOpeningAuction TradingPhase = 3
	// The last part of the opening auction: usually without cancels.
	TradingPhaseOpeningFreeze TradingPhase = 4
	// Between auction and continuous trading, or a break: nothing trades.
	TradingPhasePause TradingPhase = 5
	// Incoming orders trade with resting ones.
	TradingPhaseContinuous TradingPhase = 6
	// Trading is interrupted; nothing trades.
	TradingPhaseHalt TradingPhase = 7
	// Orders are collected for the auction that follows a volatility halt.
	TradingPhaseVolatilityAuction TradingPhase = 8
	// Orders are collected for the closing auction.
	TradingPhaseClosingAuction TradingPhase = 9
	// The last part of the closing auction: usually without cancels.
	TradingPhaseClosingFreeze TradingPhase = 10
)

func (v TradingPhase) String() string {
	switch v {
	case TradingPhaseClosed:
		return "closed"
	case TradingPhasePreOpen:
		return "pre-open"
	case TradingPhaseOpeningAuction:
		return "opening-auction"
	case TradingPhaseOpeningFreeze:
		return "opening-freeze"
	case TradingPhasePause:
		return "pause"
	case TradingPhaseContinuous:
		return "continuous"
	case TradingPhaseHalt:
		return "halt"
	case TradingPhaseVolatilityAuction:
		return "volatility-auction"
	case TradingPhaseClosingAuction:
		return "closing-auction"
	case TradingPhaseClosingFreeze:
		return "closing-freeze"
	}
	return unlisted("TradingPhase", uint8(v))
}

// IsListed is false for a value that no member has.
func (v TradingPhase) IsListed() bool {
	return v-1 < 10
}

const (
	// No new orders, no withdrawals.
	AccountStateFrozen = 1
	// It has ended.
	AccountStateClosed = 2
	// A kill switch has fallen: its own, its group's or the platform's.
	AccountStateKilled = 4
)

const (
	// With `BookAction.Modify`: the order goes behind all others at its price.
	BookEventLosesPriority = 1
	// Last part of one event of the source: the book is whole again after it.
	BookEventIsLast = 2
	// The market is in a call auction, or closed: orders are collected, nothing trades but at the auction's end.
	BookEventCallAuction = 4
	// Part of a snapshot of the book, for readers that join late or were lapped: a `BookAction.Clear`, then an `BookAction.Add` an order, in priority. Who has the book already passes over it. Its `sequence` is that of the last event that it includes.
	BookEventIsSnapshot = 8
	// With `BookAction.Trade`: the order that rested was hidden, and the source says so. Without it, it may be a displayed one from before the recording's first message.
	BookEventIsHidden = 16
	// With `BookAction.Execute` and `BookAction.Trade`: neither side came in, as in a cross, or the source does not say which one did. The side of a trade means nothing then.
	BookEventHasNoSide = 32
	// With `BookAction.Execute` and `BookAction.Trade`: no trade of its own in what the market reports as traded. Another event has its quantity.
	BookEventIsUnprinted = 64
)

const (
	// Only orders for `account`.
	CancelAllOfAccount = 1
	// Only orders of `side`.
	CancelAllOfSide = 2
)

const (
	// It must end when the client's connection ends, that of a gateway that was killed among them.
	ClientOrderEndsWithSession = 1
)

const (
	// Orders are taken now.
	ContractTermsTradable = 1
	// It may be sold short.
	ContractTermsShortable = 2
	// The exchange tells closing today's position from closing an earlier day's; a plain close is of earlier days.
	ContractTermsTodayApart = 4
)

const (
	// Only while the order rested.
	FeeRuleMaker = 1
	// Only while the order came in.
	FeeRuleTaker = 2
)

const (
	// It must end when the client's connection ends, that of a gateway that was killed among them.
	KeptOrderEndsWithSession = 1
	// It must end: it is owed a cancel that the market has not carried out yet.
	KeptOrderMustEnd = 2
)

const (
	// Rejected if any of it would trade at once; with any time in force that rests.
	NewOrderIsPostOnly = 1
	// Where it would trade with an order of its owner, what is left of it is cancelled.
	NewOrderCancelNewest = 2
	// Where it would trade with an order of its owner, that one is cancelled. With `cancel_newest` too: both.
	NewOrderCancelOldest = 4
	// Where it would trade with an order of its owner, both lose the smaller open quantity without a trade. Not together with the other two.
	NewOrderDecrement = 8
	// Of a futures account: it opens. Without this and the next two: as the position allows.
	NewOrderOffsetOpen = 16
	// Of a futures account: it closes what was opened today. With `offset_yesterday` too: of whichever day.
	NewOrderOffsetToday = 32
	// Of a futures account: it closes what was opened on an earlier day.
	NewOrderOffsetYesterday = 64
	// It closes a position by force, and comes from the ledger, not from a strategy.
	NewOrderForced = 128
)

const (
	// The market is in a call auction, or closed: orders are collected, nothing trades but at the auction's end.
	QuoteCallAuction = 1
)

const (
	// A person confirms a day or prices that look like a slip: without it td refuses them.
	SettleForcedSettlement = 1
)

// Cause has 40 bytes. The message that made a strategy act: enough to follow the chain end to end and to time each hop.
type Cause struct {
	// Position of the frame in its journal; zero with journal zero: nothing caused it (a timer, the start).
	Position uint64
	// t0: when it was due.
	Due Nanos
	// t1: when md committed it (the frame's time).
	Published Nanos
	// t2: when the strategy received it.
	Received Nanos
	// The journal's number within the instance.
	Journal uint32
	// Zero.
	_ [4]byte
}

// The layout is the contract's, or this does not compile.
var _ [40]struct{} = [unsafe.Sizeof(Cause{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Cause{}.Position)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Cause{}.Due)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(Cause{}.Published)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(Cause{}.Received)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(Cause{}.Journal)]struct{}{}

func (m *Cause) invalid() string {
	return ""
}

// Level has 16 bytes. One price level: the sum of what rests there.
type Level struct {
	// `Price.NONE` where the book has no such level.
	Price Price
	// Zero where the book has no such level.
	Quantity Quantity
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(Level{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Level{}.Price)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Level{}.Quantity)]struct{}{}

func (m *Level) invalid() string {
	return ""
}

// Instrument has 96 bytes. An instrument and its rules. Written once per instrument, before anything else about it.
type Instrument struct {
	// Its number, which is also its topic in `md.quotes` and `md.flow`.
	ID InstrumentID
	// Zero.
	_ [4]byte
	// Its name.
	Symbol Text24
	// Prices are multiples of this; zero or less: any price.
	Tick Price
	// Quantities are multiples of this; at least 1.
	Lot Quantity
	// Lowest price an order may have, or `Price.NONE`.
	PriceLow Price
	// Highest price an order may have, or `Price.NONE`.
	PriceHigh Price
	// A price to start from (previous close, first trade), or `Price.NONE`.
	ReferencePrice Price
	// Largest quantity of one order; zero: no limit.
	MaxQuantity Quantity
	// One unit of quantity is worth the price times this; zero: 1.
	Multiplier uint64
	// In which money it is paid; empty: nobody has said.
	Currency Text8
}

// The layout is the contract's, or this does not compile.
var _ [96]struct{} = [unsafe.Sizeof(Instrument{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Instrument{}.ID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Instrument{}.Symbol)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(Instrument{}.Tick)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(Instrument{}.Lot)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(Instrument{}.PriceLow)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(Instrument{}.PriceHigh)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(Instrument{}.ReferencePrice)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(Instrument{}.MaxQuantity)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(Instrument{}.Multiplier)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(Instrument{}.Currency)]struct{}{}

func (m *Instrument) invalid() string {
	return ""
}

// InstrumentMessageID stands in the frame's header.
const InstrumentMessageID uint16 = 1

// MessageID of the message.
func (m *Instrument) MessageID() uint16 {
	return 1
}

// AsBytes are those of the message itself, not a copy.
func (m *Instrument) AsBytes() []byte {
	return (*[96]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Instrument) Decode(payload []byte) error {
	if len(payload) != 96 {
		return sizeError("Instrument", 96, len(payload))
	}
	copy((*[96]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Instrument", field)
	}
	return nil
}

// Quote has 368 bytes. The best ten levels of both sides after one event in the market.
type Quote struct {
	// Of which instrument.
	Instrument InstrumentID
	// State of the market.
	Flags uint32
	// When the generator's schedule wanted it published (t0), on the platform's clock; zero when replayed at "max" speed, which has no schedule.
	Due Nanos
	// The market's own time of the event.
	EventTime Nanos
	// The source's own number of the event (row, channel sequence); grows with every event.
	Sequence uint64
	// Price of the last trade, or `Price.NONE`.
	LastPrice Price
	// Quantity of the last trade.
	LastQuantity Quantity
	// Best first: descending prices.
	Bids [10]Level
	// Best first: ascending prices.
	Asks [10]Level
}

// The layout is the contract's, or this does not compile.
var _ [368]struct{} = [unsafe.Sizeof(Quote{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Quote{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(Quote{}.Flags)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Quote{}.Due)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(Quote{}.EventTime)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(Quote{}.Sequence)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(Quote{}.LastPrice)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(Quote{}.LastQuantity)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(Quote{}.Bids)]struct{}{}
var _ [208]struct{} = [unsafe.Offsetof(Quote{}.Asks)]struct{}{}

func (m *Quote) invalid() string {
	return ""
}

// QuoteMessageID stands in the frame's header.
const QuoteMessageID uint16 = 2

// MessageID of the message.
func (m *Quote) MessageID() uint16 {
	return 2
}

// AsBytes are those of the message itself, not a copy.
func (m *Quote) AsBytes() []byte {
	return (*[368]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Quote) Decode(payload []byte) error {
	if len(payload) != 368 {
		return sizeError("Quote", 368, len(payload))
	}
	copy((*[368]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Quote", field)
	}
	return nil
}

// TradePrint has 56 bytes. A trade as the market reported it.
type TradePrint struct {
	// Of which instrument.
	Instrument InstrumentID
	// Whose incoming order caused it.
	Aggressor Aggressor
	// Zero.
	_ [3]byte
	// When the schedule wanted it published, as in `Quote.due`.
	Due Nanos
	// The market's own time.
	EventTime Nanos
	// The source's own number of the event.
	Sequence uint64
	// At which price.
	Price Price
	// How much.
	Quantity Quantity
	// The market's number of the trade, or zero.
	TradeID uint64
}

// The layout is the contract's, or this does not compile.
var _ [56]struct{} = [unsafe.Sizeof(TradePrint{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(TradePrint{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(TradePrint{}.Aggressor)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(TradePrint{}.Due)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(TradePrint{}.EventTime)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(TradePrint{}.Sequence)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(TradePrint{}.Price)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(TradePrint{}.Quantity)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(TradePrint{}.TradeID)]struct{}{}

func (m *TradePrint) invalid() string {
	if !m.Aggressor.IsListed() {
		return "aggressor"
	}
	return ""
}

// TradePrintMessageID stands in the frame's header.
const TradePrintMessageID uint16 = 3

// MessageID of the message.
func (m *TradePrint) MessageID() uint16 {
	return 3
}

// AsBytes are those of the message itself, not a copy.
func (m *TradePrint) AsBytes() []byte {
	return (*[56]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *TradePrint) Decode(payload []byte) error {
	if len(payload) != 56 {
		return sizeError("TradePrint", 56, len(payload))
	}
	copy((*[56]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("TradePrint", field)
	}
	return nil
}

// BookEvent has 56 bytes. One event of the market's order flow (market by order): what matching rebuilds the market's book from.
type BookEvent struct {
	// Of which instrument.
	Instrument InstrumentID
	// What it does.
	Action BookAction
	// Side of the resting order.
	Side Side
	// What to know about the event beside its action.
	Flags uint16
	// The market's number of the resting order; zero where there is none.
	OrderRef uint64
	// Price of the order, or of the trade.
	Price Price
	// Quantity added, taken away or traded; the new total for `BookAction.Modify`.
	Quantity Quantity
	// The market's own time.
	EventTime Nanos
	// The source's own number of the event.
	Sequence uint64
	// Zero.
	_ [8]byte
}

// The layout is the contract's, or this does not compile.
var _ [56]struct{} = [unsafe.Sizeof(BookEvent{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(BookEvent{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(BookEvent{}.Action)]struct{}{}
var _ [5]struct{} = [unsafe.Offsetof(BookEvent{}.Side)]struct{}{}
var _ [6]struct{} = [unsafe.Offsetof(BookEvent{}.Flags)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(BookEvent{}.OrderRef)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(BookEvent{}.Price)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(BookEvent{}.Quantity)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(BookEvent{}.EventTime)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(BookEvent{}.Sequence)]struct{}{}

func (m *BookEvent) invalid() string {
	if !m.Action.IsListed() {
		return "action"
	}
	if !m.Side.IsListed() {
		return "side"
	}
	return ""
}

// BookEventMessageID stands in the frame's header.
const BookEventMessageID uint16 = 4

// MessageID of the message.
func (m *BookEvent) MessageID() uint16 {
	return 4
}

// AsBytes are those of the message itself, not a copy.
func (m *BookEvent) AsBytes() []byte {
	return (*[56]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *BookEvent) Decode(payload []byte) error {
	if len(payload) != 56 {
		return sizeError("BookEvent", 56, len(payload))
	}
	copy((*[56]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("BookEvent", field)
	}
	return nil
}

// MarketPhase has 24 bytes. An instrument's market changed its phase.
type MarketPhase struct {
	// Of which instrument.
	Instrument InstrumentID
	// The phase from now on.
	Phase TradingPhase
	// Zero.
	_ [3]byte
	// The market's own time.
	EventTime Nanos
	// The market's number of the event, counted with its book events. The number of the event before it: an exchange of strategies repeats the phase behind a snapshot, or a recorded market enters it by the clock.
	Sequence uint64
}

// The layout is the contract's, or this does not compile.
var _ [24]struct{} = [unsafe.Sizeof(MarketPhase{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(MarketPhase{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(MarketPhase{}.Phase)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(MarketPhase{}.EventTime)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(MarketPhase{}.Sequence)]struct{}{}

func (m *MarketPhase) invalid() string {
	if !m.Phase.IsListed() {
		return "phase"
	}
	return ""
}

// MarketPhaseMessageID stands in the frame's header.
const MarketPhaseMessageID uint16 = 5

// MessageID of the message.
func (m *MarketPhase) MessageID() uint16 {
	return 5
}

// AsBytes are those of the message itself, not a copy.
func (m *MarketPhase) AsBytes() []byte {
	return (*[24]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *MarketPhase) Decode(payload []byte) error {
	if len(payload) != 24 {
		return sizeError("MarketPhase", 24, len(payload))
	}
	copy((*[24]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("MarketPhase", field)
	}
	return nil
}

// Indicative has 48 bytes. What an auction would trade if it ended now.
type Indicative struct {
	// Of which instrument.
	Instrument InstrumentID
	// Zero.
	_ [4]byte
	// Its price; `Price.NONE` if nothing would trade.
	Price Price
	// How much would trade.
	Quantity Quantity
	// How much more buyers offer at that price than sellers; negative: sellers more.
	Imbalance Quantity
	// The market's own time.
	EventTime Nanos
	// The market's number of the last event before it.
	Sequence uint64
}

// The layout is the contract's, or this does not compile.
var _ [48]struct{} = [unsafe.Sizeof(Indicative{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Indicative{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Indicative{}.Price)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(Indicative{}.Quantity)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(Indicative{}.Imbalance)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(Indicative{}.EventTime)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(Indicative{}.Sequence)]struct{}{}

func (m *Indicative) invalid() string {
	return ""
}

// IndicativeMessageID stands in the frame's header.
const IndicativeMessageID uint16 = 6

// MessageID of the message.
func (m *Indicative) MessageID() uint16 {
	return 6
}

// AsBytes are those of the message itself, not a copy.
func (m *Indicative) AsBytes() []byte {
	return (*[48]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Indicative) Decode(payload []byte) error {
	if len(payload) != 48 {
		return sizeError("Indicative", 48, len(payload))
	}
	copy((*[48]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Indicative", field)
	}
	return nil
}

// Best has 32 bytes. The best level of both sides after one event in the market. The instrument is the frame's topic. Quantities are in the units of `Quote`'s, up to `Best.MOST`: a greater one is shown as that, and then means "at least so much". A strategy that has to know the rest asks for the depth.
type Best struct {
	// Best bid's price, or `Price.NONE`.
	Bid Price
	// Best ask's price, or `Price.NONE`.
	Ask Price
	// Quantity at the best bid, zero where there is none; `Best.MOST`: at least so much.
	BidQuantity uint32
	// Quantity at the best ask, zero where there is none; `Best.MOST`: at least so much.
	AskQuantity uint32
	// When the schedule wanted it published, as in `Quote.due`.
	Due Nanos
}

// The layout is the contract's, or this does not compile.
var _ [32]struct{} = [unsafe.Sizeof(Best{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Best{}.Bid)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Best{}.Ask)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(Best{}.BidQuantity)]struct{}{}
var _ [20]struct{} = [unsafe.Offsetof(Best{}.AskQuantity)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(Best{}.Due)]struct{}{}

func (m *Best) invalid() string {
	return ""
}

// BestMessageID stands in the frame's header.
const BestMessageID uint16 = 7

// MessageID of the message.
func (m *Best) MessageID() uint16 {
	return 7
}

// AsBytes are those of the message itself, not a copy.
func (m *Best) AsBytes() []byte {
	return (*[32]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Best) Decode(payload []byte) error {
	if len(payload) != 32 {
		return sizeError("Best", 32, len(payload))
	}
	copy((*[32]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Best", field)
	}
	return nil
}

// MarketTime has 8 bytes. The market's time has come to this, and all that the market did up to it has been published. Only in lock-step, where a strategy's timer or bar, a request or a report is due before the next event of the market.
type MarketTime struct {
	// The market's own time.
	EventTime Nanos
}

// The layout is the contract's, or this does not compile.
var _ [8]struct{} = [unsafe.Sizeof(MarketTime{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(MarketTime{}.EventTime)]struct{}{}

func (m *MarketTime) invalid() string {
	return ""
}

// MarketTimeMessageID stands in the frame's header.
const MarketTimeMessageID uint16 = 8

// MessageID of the message.
func (m *MarketTime) MessageID() uint16 {
	return 8
}

// AsBytes are those of the message itself, not a copy.
func (m *MarketTime) AsBytes() []byte {
	return (*[8]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *MarketTime) Decode(payload []byte) error {
	if len(payload) != 8 {
		return sizeError("MarketTime", 8, len(payload))
	}
	copy((*[8]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("MarketTime", field)
	}
	return nil
}

// NewOrder has 96 bytes. A new order. Its frame's time is t3.
type NewOrder struct {
	// Given by the strategy's own SDK; never used twice.
	OrderID OrderID
	// What to trade.
	Instrument InstrumentID
	// Buy or sell.
	Side Side
	// Limit or market.
	OrderType OrderType
	// How long it lives.
	TimeInForce TimeInForce
	// Conditions.
	Flags uint8
	// Limit price; ignored for orders that have none (`OrderType.has_price`).
	Price Price
	// How much; positive.
	Quantity Quantity
	// The message that it answers.
	Cause Cause
	// For which account.
	Account AccountID
	// How many lots of it the book shows at a time; zero: all.
	DisplayLots uint32
	// The price that a stop waits for; otherwise zero.
	Trigger Price
	// It trades at least so many lots at once, or nothing; zero: any quantity.
	MinimumLots uint32
	// With `TimeInForce.GoodTillDate`: when it ends, in seconds of the market's time; otherwise zero.
	EndsS uint32
}

// The layout is the contract's, or this does not compile.
var _ [96]struct{} = [unsafe.Sizeof(NewOrder{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(NewOrder{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(NewOrder{}.Instrument)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(NewOrder{}.Side)]struct{}{}
var _ [13]struct{} = [unsafe.Offsetof(NewOrder{}.OrderType)]struct{}{}
var _ [14]struct{} = [unsafe.Offsetof(NewOrder{}.TimeInForce)]struct{}{}
var _ [15]struct{} = [unsafe.Offsetof(NewOrder{}.Flags)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(NewOrder{}.Price)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(NewOrder{}.Quantity)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(NewOrder{}.Cause)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(NewOrder{}.Account)]struct{}{}
var _ [76]struct{} = [unsafe.Offsetof(NewOrder{}.DisplayLots)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(NewOrder{}.Trigger)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(NewOrder{}.MinimumLots)]struct{}{}
var _ [92]struct{} = [unsafe.Offsetof(NewOrder{}.EndsS)]struct{}{}

func (m *NewOrder) invalid() string {
	if !m.Side.IsListed() {
		return "side"
	}
	if !m.OrderType.IsListed() {
		return "order_type"
	}
	if !m.TimeInForce.IsListed() {
		return "time_in_force"
	}
	return ""
}

// NewOrderMessageID stands in the frame's header.
const NewOrderMessageID uint16 = 10

// MessageID of the message.
func (m *NewOrder) MessageID() uint16 {
	return 10
}

// AsBytes are those of the message itself, not a copy.
func (m *NewOrder) AsBytes() []byte {
	return (*[96]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *NewOrder) Decode(payload []byte) error {
	if len(payload) != 96 {
		return sizeError("NewOrder", 96, len(payload))
	}
	copy((*[96]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("NewOrder", field)
	}
	return nil
}

// CancelOrder has 16 bytes. Takes what is left of an order out of the book.
type CancelOrder struct {
	// Which order.
	OrderID OrderID
	// Its instrument.
	Instrument InstrumentID
	// In `td.orders`: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td asks by itself 2^31 and a number of its own. In the strategy's journal: zero.
	Source uint32
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(CancelOrder{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(CancelOrder{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(CancelOrder{}.Instrument)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(CancelOrder{}.Source)]struct{}{}

func (m *CancelOrder) invalid() string {
	return ""
}

// CancelOrderMessageID stands in the frame's header.
const CancelOrderMessageID uint16 = 11

// MessageID of the message.
func (m *CancelOrder) MessageID() uint16 {
	return 11
}

// AsBytes are those of the message itself, not a copy.
func (m *CancelOrder) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *CancelOrder) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("CancelOrder", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("CancelOrder", field)
	}
	return nil
}

// ReplaceOrder has 32 bytes. Changes price or quantity of a working order. It keeps its place only if the price stays and the quantity does not grow.
type ReplaceOrder struct {
	// Which order.
	OrderID OrderID
	// Its instrument.
	Instrument InstrumentID
	// In `td.orders`: low 31 bits of the number of the line at which the request stands in its strategy's journal; where td asks by itself 2^31 and a number of its own. In the strategy's journal: zero.
	Source uint32
	// New limit price.
	Price Price
	// New total quantity, what has traded included.
	Quantity Quantity
}

// The layout is the contract's, or this does not compile.
var _ [32]struct{} = [unsafe.Sizeof(ReplaceOrder{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(ReplaceOrder{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(ReplaceOrder{}.Instrument)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(ReplaceOrder{}.Source)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(ReplaceOrder{}.Price)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(ReplaceOrder{}.Quantity)]struct{}{}

func (m *ReplaceOrder) invalid() string {
	return ""
}

// ReplaceOrderMessageID stands in the frame's header.
const ReplaceOrderMessageID uint16 = 12

// MessageID of the message.
func (m *ReplaceOrder) MessageID() uint16 {
	return 12
}

// AsBytes are those of the message itself, not a copy.
func (m *ReplaceOrder) AsBytes() []byte {
	return (*[32]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *ReplaceOrder) Decode(payload []byte) error {
	if len(payload) != 32 {
		return sizeError("ReplaceOrder", 32, len(payload))
	}
	copy((*[32]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("ReplaceOrder", field)
	}
	return nil
}

// LatencySample has 48 bytes. The five times of one order on the platform's clock, written by td as it takes the order.
type LatencySample struct {
	// Which order.
	OrderID OrderID
	// t0: when the quote was due; zero where there is no schedule.
	Due Nanos
	// t1: md committed the quote.
	Published Nanos
	// t2: the strategy received it.
	Received Nanos
	// t3: the strategy committed the order.
	Ordered Nanos
	// t4: td received it.
	Taken Nanos
}

// The layout is the contract's, or this does not compile.
var _ [48]struct{} = [unsafe.Sizeof(LatencySample{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(LatencySample{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(LatencySample{}.Due)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(LatencySample{}.Published)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(LatencySample{}.Received)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(LatencySample{}.Ordered)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(LatencySample{}.Taken)]struct{}{}

func (m *LatencySample) invalid() string {
	return ""
}

// LatencySampleMessageID stands in the frame's header.
const LatencySampleMessageID uint16 = 13

// MessageID of the message.
func (m *LatencySample) MessageID() uint16 {
	return 13
}

// AsBytes are those of the message itself, not a copy.
func (m *LatencySample) AsBytes() []byte {
	return (*[48]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *LatencySample) Decode(payload []byte) error {
	if len(payload) != 48 {
		return sizeError("LatencySample", 48, len(payload))
	}
	copy((*[48]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("LatencySample", field)
	}
	return nil
}

// CancelAll has 24 bytes. Cancels all working orders of the strategy that match what is given.
type CancelAll struct {
	// Number of the request, from the same sequence as those of orders: its answer names it.
	OrderID OrderID
	// Only of this instrument; zero: of all.
	Instrument InstrumentID
	// As in `CancelOrder.source`.
	Source uint32
	// Only for this account, with `of_account`.
	Account AccountID
	// Only of this side, with `of_side`.
	Side Side
	// What is given.
	Flags uint8
	// Zero.
	_ [2]byte
}

// The layout is the contract's, or this does not compile.
var _ [24]struct{} = [unsafe.Sizeof(CancelAll{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(CancelAll{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(CancelAll{}.Instrument)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(CancelAll{}.Source)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(CancelAll{}.Account)]struct{}{}
var _ [20]struct{} = [unsafe.Offsetof(CancelAll{}.Side)]struct{}{}
var _ [21]struct{} = [unsafe.Offsetof(CancelAll{}.Flags)]struct{}{}

func (m *CancelAll) invalid() string {
	if !m.Side.IsListed() {
		return "side"
	}
	return ""
}

// CancelAllMessageID stands in the frame's header.
const CancelAllMessageID uint16 = 14

// MessageID of the message.
func (m *CancelAll) MessageID() uint16 {
	return 14
}

// AsBytes are those of the message itself, not a copy.
func (m *CancelAll) AsBytes() []byte {
	return (*[24]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *CancelAll) Decode(payload []byte) error {
	if len(payload) != 24 {
		return sizeError("CancelAll", 24, len(payload))
	}
	copy((*[24]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("CancelAll", field)
	}
	return nil
}

// Statistics has 96 bytes. What has traded in an instrument on this day.
type Statistics struct {
	// Of which instrument.
	Instrument InstrumentID
	// Zero.
	_ [4]byte
	// Price of the first trade, or `Price.NONE`.
	Open Price
	// Highest price of a trade, or `Price.NONE`.
	High Price
	// Lowest price of a trade, or `Price.NONE`.
	Low Price
	// Price of the last trade, or `Price.NONE`.
	Last Price
	// How much has traded.
	Volume Quantity
	// Number of trades.
	Trades uint64
	// Number of the last trade that is counted, or zero.
	TradeID uint64
	// What was paid for it, exactly.
	Turnover WideMoney
	// The market's own time.
	EventTime Nanos
	// The market's number of the last event before it.
	Sequence uint64
}

// The layout is the contract's, or this does not compile.
var _ [96]struct{} = [unsafe.Sizeof(Statistics{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Statistics{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Statistics{}.Open)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(Statistics{}.High)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(Statistics{}.Low)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(Statistics{}.Last)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(Statistics{}.Volume)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(Statistics{}.Trades)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(Statistics{}.TradeID)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(Statistics{}.Turnover)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(Statistics{}.EventTime)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(Statistics{}.Sequence)]struct{}{}

func (m *Statistics) invalid() string {
	return ""
}

// StatisticsMessageID stands in the frame's header.
const StatisticsMessageID uint16 = 15

// MessageID of the message.
func (m *Statistics) MessageID() uint16 {
	return 15
}

// AsBytes are those of the message itself, not a copy.
func (m *Statistics) AsBytes() []byte {
	return (*[96]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Statistics) Decode(payload []byte) error {
	if len(payload) != 96 {
		return sizeError("Statistics", 96, len(payload))
	}
	copy((*[96]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Statistics", field)
	}
	return nil
}

// ClientOrder has 120 bytes. Who is behind the order that follows it in the same batch: a client of the gateway. td passes it over; the gateway reads it back after a restart, and a recording of the journal says for ever whose an order was.
type ClientOrder struct {
	// The order.
	OrderID OrderID
	// The token that it came with, by its public number.
	Token uint64
	// What the client calls it, unique among the orders for the account; empty: nothing.
	ClientID Text48
	// The client's address, as text; "unix" for a local socket.
	Address Text48
	// For which account.
	Account AccountID
	// What becomes of it.
	Flags uint32
}

// The layout is the contract's, or this does not compile.
var _ [120]struct{} = [unsafe.Sizeof(ClientOrder{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(ClientOrder{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(ClientOrder{}.Token)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(ClientOrder{}.ClientID)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(ClientOrder{}.Address)]struct{}{}
var _ [112]struct{} = [unsafe.Offsetof(ClientOrder{}.Account)]struct{}{}
var _ [116]struct{} = [unsafe.Offsetof(ClientOrder{}.Flags)]struct{}{}

func (m *ClientOrder) invalid() string {
	return ""
}

// ClientOrderMessageID stands in the frame's header.
const ClientOrderMessageID uint16 = 16

// MessageID of the message.
func (m *ClientOrder) MessageID() uint16 {
	return 16
}

// AsBytes are those of the message itself, not a copy.
func (m *ClientOrder) AsBytes() []byte {
	return (*[120]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *ClientOrder) Decode(payload []byte) error {
	if len(payload) != 120 {
		return sizeError("ClientOrder", 120, len(payload))
	}
	copy((*[120]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("ClientOrder", field)
	}
	return nil
}

// KeptOrder has 176 bytes. An order of a client of the gateway that works, again: the gateway writes it before the ring passes the frames of the order itself, so that its successor still finds the owner. td passes it over.
type KeptOrder struct {
	// The order.
	OrderID OrderID
	// The token that it came with, by its public number.
	Token uint64
	// Time of the frame that brought it.
	Sent Nanos
	// Limit price of the order as it was sent.
	Price Price
	// Its quantity as it was sent.
	Quantity Quantity
	// The price that a stop waits for; otherwise zero.
	Trigger Price
	// What the client calls it; empty: nothing.
	ClientID Text48
	// The client's address, as text; "unix" for a local socket.
	Address Text48
	// What to trade.
	Instrument InstrumentID
	// For which account.
	Account AccountID
	// How many lots of it the book shows at a time; zero: all.
	DisplayLots uint32
	// It trades at least so many lots at once, or nothing; zero: any quantity.
	MinimumLots uint32
	// With `TimeInForce.GoodTillDate`: when it ends, in seconds of the market's time; otherwise zero.
	EndsS uint32
	// What becomes of it.
	Flags uint16
	// The flags of the `NewOrder`.
	Conditions uint8
	// Zero.
	_ [1]byte
	// Buy or sell.
	Side Side
	// Limit or market.
	OrderType OrderType
	// How long it lives.
	TimeInForce TimeInForce
	// Zero.
	_ [5]byte
}

// The layout is the contract's, or this does not compile.
var _ [176]struct{} = [unsafe.Sizeof(KeptOrder{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(KeptOrder{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(KeptOrder{}.Token)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(KeptOrder{}.Sent)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(KeptOrder{}.Price)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(KeptOrder{}.Quantity)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(KeptOrder{}.Trigger)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(KeptOrder{}.ClientID)]struct{}{}
var _ [96]struct{} = [unsafe.Offsetof(KeptOrder{}.Address)]struct{}{}
var _ [144]struct{} = [unsafe.Offsetof(KeptOrder{}.Instrument)]struct{}{}
var _ [148]struct{} = [unsafe.Offsetof(KeptOrder{}.Account)]struct{}{}
var _ [152]struct{} = [unsafe.Offsetof(KeptOrder{}.DisplayLots)]struct{}{}
var _ [156]struct{} = [unsafe.Offsetof(KeptOrder{}.MinimumLots)]struct{}{}
var _ [160]struct{} = [unsafe.Offsetof(KeptOrder{}.EndsS)]struct{}{}
var _ [164]struct{} = [unsafe.Offsetof(KeptOrder{}.Flags)]struct{}{}
var _ [166]struct{} = [unsafe.Offsetof(KeptOrder{}.Conditions)]struct{}{}
var _ [168]struct{} = [unsafe.Offsetof(KeptOrder{}.Side)]struct{}{}
var _ [169]struct{} = [unsafe.Offsetof(KeptOrder{}.OrderType)]struct{}{}
var _ [170]struct{} = [unsafe.Offsetof(KeptOrder{}.TimeInForce)]struct{}{}

func (m *KeptOrder) invalid() string {
	if !m.Side.IsListed() {
		return "side"
	}
	if !m.OrderType.IsListed() {
		return "order_type"
	}
	if !m.TimeInForce.IsListed() {
		return "time_in_force"
	}
	return ""
}

// KeptOrderMessageID stands in the frame's header.
const KeptOrderMessageID uint16 = 17

// MessageID of the message.
func (m *KeptOrder) MessageID() uint16 {
	return 17
}

// AsBytes are those of the message itself, not a copy.
func (m *KeptOrder) AsBytes() []byte {
	return (*[176]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *KeptOrder) Decode(payload []byte) error {
	if len(payload) != 176 {
		return sizeError("KeptOrder", 176, len(payload))
	}
	copy((*[176]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("KeptOrder", field)
	}
	return nil
}

// OrderUpdate has 88 bytes. An order's state changed, or a request about it was refused.
type OrderUpdate struct {
	// Which order.
	OrderID OrderID
	// Its instrument.
	Instrument InstrumentID
	// Its side.
	Side Side
	// Its status after this.
	Status OrderStatus
	// Why, when rejected or cancelled.
	Reason Reason
	// Zero.
	_ [1]byte
	// Its limit price.
	Price Price
	// Its total quantity.
	Quantity Quantity
	// How much of it has traded.
	Filled Quantity
	// How much of it still works; zero once final.
	Remaining Quantity
	// Market time of the event that caused it; zero where there is none: in what td refuses, and in rejections beside a recorded or quoted market to which requests take no time. It may go back once: in the ends of orders whose books were lost, which have the time of the order's last update.
	EventTime Nanos
	// Position in `matching.executions` of the frame that this passes on or restates: set by td in reports and by the ledger in snapshots. Zero in `matching.executions` itself, and in a refusal by td, which passes nothing on.
	Execution uint64
	// Position in `td.orders` of the last request that matching had taken when it wrote this: it, and all before it, are answered. Zero before the first request, and in a refusal by td.
	AnsweredUpTo uint64
	// In a refusal by td: position of the refused request in its strategy's journal of orders. Otherwise zero.
	RefusedRequest uint64
	// In a refusal by td: position in `matching.executions` of the last frame that td had passed on in this journal of reports. Otherwise zero.
	ReportedUpTo uint64
}

// The layout is the contract's, or this does not compile.
var _ [88]struct{} = [unsafe.Sizeof(OrderUpdate{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(OrderUpdate{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(OrderUpdate{}.Instrument)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(OrderUpdate{}.Side)]struct{}{}
var _ [13]struct{} = [unsafe.Offsetof(OrderUpdate{}.Status)]struct{}{}
var _ [14]struct{} = [unsafe.Offsetof(OrderUpdate{}.Reason)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(OrderUpdate{}.Price)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(OrderUpdate{}.Quantity)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(OrderUpdate{}.Filled)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(OrderUpdate{}.Remaining)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(OrderUpdate{}.EventTime)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(OrderUpdate{}.Execution)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(OrderUpdate{}.AnsweredUpTo)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(OrderUpdate{}.RefusedRequest)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(OrderUpdate{}.ReportedUpTo)]struct{}{}

func (m *OrderUpdate) invalid() string {
	if !m.Side.IsListed() {
		return "side"
	}
	if !m.Status.IsListed() {
		return "status"
	}
	if !m.Reason.IsListed() {
		return "reason"
	}
	return ""
}

// OrderUpdateMessageID stands in the frame's header.
const OrderUpdateMessageID uint16 = 20

// MessageID of the message.
func (m *OrderUpdate) MessageID() uint16 {
	return 20
}

// AsBytes are those of the message itself, not a copy.
func (m *OrderUpdate) AsBytes() []byte {
	return (*[88]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *OrderUpdate) Decode(payload []byte) error {
	if len(payload) != 88 {
		return sizeError("OrderUpdate", 88, len(payload))
	}
	copy((*[88]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("OrderUpdate", field)
	}
	return nil
}

// Fill has 72 bytes. Part of an order traded. Followed by an `OrderUpdate` with the order's state.
type Fill struct {
	// Which order.
	OrderID OrderID
	// The engine's number of the trade; two of our own orders that trade with each other share it.
	TradeID uint64
	// Its instrument.
	Instrument InstrumentID
	// Its side.
	Side Side
	// Whether it rested.
	Liquidity Liquidity
	// Zero.
	_ [2]byte
	// At which price.
	Price Price
	// How much.
	Quantity Quantity
	// How much of the order still works.
	Remaining Quantity
	// Market time of the event that caused it, or zero.
	EventTime Nanos
	// As in `OrderUpdate.execution`.
	Execution uint64
	// As in `OrderUpdate.answered_up_to`.
	AnsweredUpTo uint64
}

// The layout is the contract's, or this does not compile.
var _ [72]struct{} = [unsafe.Sizeof(Fill{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Fill{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Fill{}.TradeID)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(Fill{}.Instrument)]struct{}{}
var _ [20]struct{} = [unsafe.Offsetof(Fill{}.Side)]struct{}{}
var _ [21]struct{} = [unsafe.Offsetof(Fill{}.Liquidity)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(Fill{}.Price)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(Fill{}.Quantity)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(Fill{}.Remaining)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(Fill{}.EventTime)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(Fill{}.Execution)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(Fill{}.AnsweredUpTo)]struct{}{}

func (m *Fill) invalid() string {
	if !m.Side.IsListed() {
		return "side"
	}
	if !m.Liquidity.IsListed() {
		return "liquidity"
	}
	return ""
}

// FillMessageID stands in the frame's header.
const FillMessageID uint16 = 21

// MessageID of the message.
func (m *Fill) MessageID() uint16 {
	return 21
}

// AsBytes are those of the message itself, not a copy.
func (m *Fill) AsBytes() []byte {
	return (*[72]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Fill) Decode(payload []byte) error {
	if len(payload) != 72 {
		return sizeError("Fill", 72, len(payload))
	}
	copy((*[72]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Fill", field)
	}
	return nil
}

// SnapshotBegin has 40 bytes. The begin of a snapshot of one strategy, or of all.
type SnapshotBegin struct {
	// Number of this snapshot; the end carries the same.
	Snapshot uint64
	// Position in `matching.executions` before which executions are contained in it: those from it on are new.
	Execution uint64
	// For whom; `u16.MAX`: for everybody.
	Strategy StrategyID
	// Zero.
	_ [6]byte
	// Generation of the seat that it is for: a restarted strategy ignores its predecessor's.
	Generation uint64
	// Number of the last trade in the executions that it contains: a restarted matching continues after it.
	Trade uint64
}

// The layout is the contract's, or this does not compile.
var _ [40]struct{} = [unsafe.Sizeof(SnapshotBegin{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(SnapshotBegin{}.Snapshot)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(SnapshotBegin{}.Execution)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(SnapshotBegin{}.Strategy)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(SnapshotBegin{}.Generation)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(SnapshotBegin{}.Trade)]struct{}{}

func (m *SnapshotBegin) invalid() string {
	return ""
}

// SnapshotBeginMessageID stands in the frame's header.
const SnapshotBeginMessageID uint16 = 30

// MessageID of the message.
func (m *SnapshotBegin) MessageID() uint16 {
	return 30
}

// AsBytes are those of the message itself, not a copy.
func (m *SnapshotBegin) AsBytes() []byte {
	return (*[40]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *SnapshotBegin) Decode(payload []byte) error {
	if len(payload) != 40 {
		return sizeError("SnapshotBegin", 40, len(payload))
	}
	copy((*[40]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("SnapshotBegin", field)
	}
	return nil
}

// SnapshotEnd has 32 bytes. The end of the snapshot of the same number: it is whole.
type SnapshotEnd struct {
	// As in `SnapshotBegin`.
	Snapshot uint64
	// Frames between begin and end.
	Frames uint64
	// For whom.
	Strategy StrategyID
	// Zero.
	_ [6]byte
	// As in `SnapshotBegin`.
	Generation uint64
}

// The layout is the contract's, or this does not compile.
var _ [32]struct{} = [unsafe.Sizeof(SnapshotEnd{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(SnapshotEnd{}.Snapshot)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(SnapshotEnd{}.Frames)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(SnapshotEnd{}.Strategy)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(SnapshotEnd{}.Generation)]struct{}{}

func (m *SnapshotEnd) invalid() string {
	return ""
}

// SnapshotEndMessageID stands in the frame's header.
const SnapshotEndMessageID uint16 = 31

// MessageID of the message.
func (m *SnapshotEnd) MessageID() uint16 {
	return 31
}

// AsBytes are those of the message itself, not a copy.
func (m *SnapshotEnd) AsBytes() []byte {
	return (*[32]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *SnapshotEnd) Decode(payload []byte) error {
	if len(payload) != 32 {
		return sizeError("SnapshotEnd", 32, len(payload))
	}
	copy((*[32]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("SnapshotEnd", field)
	}
	return nil
}

// PositionState has 96 bytes. One strategy's position in one instrument.
type PositionState struct {
	// Whose.
	Strategy StrategyID
	// Zero.
	_ [2]byte
	// In what.
	Instrument InstrumentID
	// Signed: short is negative.
	Position Quantity
	// Average price of what is open; zero when flat.
	AveragePrice Price
	// Profit and loss of what was closed, rounded towards zero.
	Realised Money
	// Profit and loss of what is open, at `mark_price`, rounded towards zero.
	Unrealised Money
	// Latest mid, or last trade; `Price.NONE` before the first.
	MarkPrice Price
	// All that was bought.
	Bought Quantity
	// All that was sold.
	Sold Quantity
	// Number of fills.
	Fills uint64
	// Number of orders that matching accepted.
	Orders uint64
	// What sales brought less what purchases cost, exactly.
	Cash WideMoney
}

// The layout is the contract's, or this does not compile.
var _ [96]struct{} = [unsafe.Sizeof(PositionState{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(PositionState{}.Strategy)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(PositionState{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(PositionState{}.Position)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(PositionState{}.AveragePrice)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(PositionState{}.Realised)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(PositionState{}.Unrealised)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(PositionState{}.MarkPrice)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(PositionState{}.Bought)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(PositionState{}.Sold)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(PositionState{}.Fills)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(PositionState{}.Orders)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(PositionState{}.Cash)]struct{}{}

func (m *PositionState) invalid() string {
	return ""
}

// PositionStateMessageID stands in the frame's header.
const PositionStateMessageID uint16 = 32

// MessageID of the message.
func (m *PositionState) MessageID() uint16 {
	return 32
}

// AsBytes are those of the message itself, not a copy.
func (m *PositionState) AsBytes() []byte {
	return (*[96]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *PositionState) Decode(payload []byte) error {
	if len(payload) != 96 {
		return sizeError("PositionState", 96, len(payload))
	}
	copy((*[96]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("PositionState", field)
	}
	return nil
}

// NodeEvent has 32 bytes. A node joined or left. Written by master.
type NodeEvent struct {
	// Grows with every start in this seat.
	Generation uint64
	// The seat.
	Seat uint16
	// What happened.
	Change NodeChange
	// What the node is.
	Role NodeRole
	// Process id, in its own pid namespace.
	Pid uint32
	// Exit code, or 128 + signal, once it left or died and if known; else -1.
	ExitCode int32
	// Zero.
	_ [4]byte
	// Zero.
	_ [8]byte
}

// The layout is the contract's, or this does not compile.
var _ [32]struct{} = [unsafe.Sizeof(NodeEvent{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(NodeEvent{}.Generation)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(NodeEvent{}.Seat)]struct{}{}
var _ [10]struct{} = [unsafe.Offsetof(NodeEvent{}.Change)]struct{}{}
var _ [11]struct{} = [unsafe.Offsetof(NodeEvent{}.Role)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(NodeEvent{}.Pid)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(NodeEvent{}.ExitCode)]struct{}{}

func (m *NodeEvent) invalid() string {
	if !m.Change.IsListed() {
		return "change"
	}
	if !m.Role.IsListed() {
		return "role"
	}
	return ""
}

// NodeEventMessageID stands in the frame's header.
const NodeEventMessageID uint16 = 40

// MessageID of the message.
func (m *NodeEvent) MessageID() uint16 {
	return 40
}

// AsBytes are those of the message itself, not a copy.
func (m *NodeEvent) AsBytes() []byte {
	return (*[32]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *NodeEvent) Decode(payload []byte) error {
	if len(payload) != 32 {
		return sizeError("NodeEvent", 32, len(payload))
	}
	copy((*[32]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("NodeEvent", field)
	}
	return nil
}

// EndOfStream has 48 bytes. The end of md's journal: nothing follows it in this run.
type EndOfStream struct {
	// Quotes published.
	Quotes uint64
	// Trade prints published.
	Trades uint64
	// Order-flow events published.
	BookEvents uint64
	// Messages (rows, records) read from the source.
	SourceMessages uint64
	// Of those: left out on purpose (out of the time window, of a kind without effect on the book).
	Skipped uint64
	// Of those: not understood. Zero unless the config tolerates them.
	Rejected uint64
}

// The layout is the contract's, or this does not compile.
var _ [48]struct{} = [unsafe.Sizeof(EndOfStream{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(EndOfStream{}.Quotes)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(EndOfStream{}.Trades)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(EndOfStream{}.BookEvents)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(EndOfStream{}.SourceMessages)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(EndOfStream{}.Skipped)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(EndOfStream{}.Rejected)]struct{}{}

func (m *EndOfStream) invalid() string {
	return ""
}

// EndOfStreamMessageID stands in the frame's header.
const EndOfStreamMessageID uint16 = 41

// MessageID of the message.
func (m *EndOfStream) MessageID() uint16 {
	return 41
}

// AsBytes are those of the message itself, not a copy.
func (m *EndOfStream) AsBytes() []byte {
	return (*[48]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *EndOfStream) Decode(payload []byte) error {
	if len(payload) != 48 {
		return sizeError("EndOfStream", 48, len(payload))
	}
	copy((*[48]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("EndOfStream", field)
	}
	return nil
}

// OrderImage has 96 bytes. A working order as it stands; `open` zero: it works no more.
type OrderImage struct {
	// Which one.
	OrderID OrderID
	// Its limit price; `Price.NONE` if it has none.
	Price Price
	// How much of it still works.
	Open Quantity
	// How much of it has traded.
	Filled Quantity
	// How much an iceberg shows at a time; zero: all.
	Display Quantity
	// How much of an iceberg is shown now.
	Shown Quantity
	// What a stop waits for, as a number of ticks.
	TriggerTicks int64
	// When it ends; the largest number: by no date.
	Ends uint64
	// Its instrument.
	Instrument InstrumentID
	// For which account.
	Account uint32
	// Which order is older: it grows with every order that comes in or loses its place, and wraps.
	AgeNumber uint32
	// What is true of it, in matching's own bits.
	Bits uint32
	// The `age_number` of the last order that came in when this one went behind the others at its price.
	Behind uint32
	// Of several that went there meanwhile, the which.
	Turn uint32
	// By which strategy.
	Strategy StrategyID
	// 1: it stands in the book; 0: it waits outside of it.
	Rests uint16
	// Zero.
	_ [4]byte
}

// The layout is the contract's, or this does not compile.
var _ [96]struct{} = [unsafe.Sizeof(OrderImage{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(OrderImage{}.OrderID)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(OrderImage{}.Price)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(OrderImage{}.Open)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(OrderImage{}.Filled)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(OrderImage{}.Display)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(OrderImage{}.Shown)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(OrderImage{}.TriggerTicks)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(OrderImage{}.Ends)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(OrderImage{}.Instrument)]struct{}{}
var _ [68]struct{} = [unsafe.Offsetof(OrderImage{}.Account)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(OrderImage{}.AgeNumber)]struct{}{}
var _ [76]struct{} = [unsafe.Offsetof(OrderImage{}.Bits)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(OrderImage{}.Behind)]struct{}{}
var _ [84]struct{} = [unsafe.Offsetof(OrderImage{}.Turn)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(OrderImage{}.Strategy)]struct{}{}
var _ [90]struct{} = [unsafe.Offsetof(OrderImage{}.Rests)]struct{}{}

func (m *OrderImage) invalid() string {
	return ""
}

// OrderImageMessageID stands in the frame's header.
const OrderImageMessageID uint16 = 50

// MessageID of the message.
func (m *OrderImage) MessageID() uint16 {
	return 50
}

// AsBytes are those of the message itself, not a copy.
func (m *OrderImage) AsBytes() []byte {
	return (*[96]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *OrderImage) Decode(payload []byte) error {
	if len(payload) != 96 {
		return sizeError("OrderImage", 96, len(payload))
	}
	copy((*[96]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("OrderImage", field)
	}
	return nil
}

// MarketImage has 32 bytes. What an instrument's market is doing, beside its orders.
type MarketImage struct {
	// Which instrument.
	Instrument InstrumentID
	// Its phase.
	Phase TradingPhase
	// Zero.
	_ [3]byte
	// The price of its last trade; `Price.NONE` before the first.
	LastPrice Price
	// When its volatility auction ends; the largest number: there is none.
	AuctionEnds uint64
	// The number of its last event in `matching.market`.
	Sequence uint64
}

// The layout is the contract's, or this does not compile.
var _ [32]struct{} = [unsafe.Sizeof(MarketImage{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(MarketImage{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(MarketImage{}.Phase)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(MarketImage{}.LastPrice)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(MarketImage{}.AuctionEnds)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(MarketImage{}.Sequence)]struct{}{}

func (m *MarketImage) invalid() string {
	if !m.Phase.IsListed() {
		return "phase"
	}
	return ""
}

// MarketImageMessageID stands in the frame's header.
const MarketImageMessageID uint16 = 51

// MessageID of the message.
func (m *MarketImage) MessageID() uint16 {
	return 51
}

// AsBytes are those of the message itself, not a copy.
func (m *MarketImage) AsBytes() []byte {
	return (*[32]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *MarketImage) Decode(payload []byte) error {
	if len(payload) != 32 {
		return sizeError("MarketImage", 32, len(payload))
	}
	copy((*[32]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("MarketImage", field)
	}
	return nil
}

// NewestOrder has 8 bytes. The newest order of a strategy: no order may have its number or an older one again.
type NewestOrder struct {
	// Its number.
	OrderID OrderID
}

// The layout is the contract's, or this does not compile.
var _ [8]struct{} = [unsafe.Sizeof(NewestOrder{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(NewestOrder{}.OrderID)]struct{}{}

func (m *NewestOrder) invalid() string {
	return ""
}

// NewestOrderMessageID stands in the frame's header.
const NewestOrderMessageID uint16 = 52

// MessageID of the message.
func (m *NewestOrder) MessageID() uint16 {
	return 52
}

// AsBytes are those of the message itself, not a copy.
func (m *NewestOrder) AsBytes() []byte {
	return (*[8]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *NewestOrder) Decode(payload []byte) error {
	if len(payload) != 8 {
		return sizeError("NewestOrder", 8, len(payload))
	}
	copy((*[8]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("NewestOrder", field)
	}
	return nil
}

// StateEnd has 80 bytes. The images before it are a whole state.
type StateEnd struct {
	// Position of the last request in `td.orders` that it contains.
	Request uint64
	// The exchange's time.
	Time uint64
	// Position in `matching.executions` of what was written next.
	Execution uint64
	// Frames in `matching.executions` until then.
	Executions uint64
	// Position in `matching.market` of what was written next; beside a recorded or quoted market: of the last message of `md.flow` or `md.quotes` that it contains.
	Market uint64
	// Position in this journal from which on there is an image of everything.
	Base uint64
	// Number of the last trade.
	Trade uint64
	// Working orders.
	Orders uint64
	// The newest `OrderImage.age_number`; beside a recorded or quoted market: places of records.
	AgeNumber uint32
	// Instruments that are listed.
	Instruments uint32
	// 1: the day is over.
	Ended uint64
}

// The layout is the contract's, or this does not compile.
var _ [80]struct{} = [unsafe.Sizeof(StateEnd{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(StateEnd{}.Request)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(StateEnd{}.Time)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(StateEnd{}.Execution)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(StateEnd{}.Executions)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(StateEnd{}.Market)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(StateEnd{}.Base)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(StateEnd{}.Trade)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(StateEnd{}.Orders)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(StateEnd{}.AgeNumber)]struct{}{}
var _ [68]struct{} = [unsafe.Offsetof(StateEnd{}.Instruments)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(StateEnd{}.Ended)]struct{}{}

func (m *StateEnd) invalid() string {
	return ""
}

// StateEndMessageID stands in the frame's header.
const StateEndMessageID uint16 = 53

// MessageID of the message.
func (m *StateEnd) MessageID() uint16 {
	return 53
}

// AsBytes are those of the message itself, not a copy.
func (m *StateEnd) AsBytes() []byte {
	return (*[80]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *StateEnd) Decode(payload []byte) error {
	if len(payload) != 80 {
		return sizeError("StateEnd", 80, len(payload))
	}
	copy((*[80]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("StateEnd", field)
	}
	return nil
}

// DueTime has 16 bytes. What is due at a time is done now: behind this request, and before the next.
type DueTime struct {
	// Position in `td.orders`.
	Request uint64
	// The time.
	Time uint64
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(DueTime{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(DueTime{}.Request)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(DueTime{}.Time)]struct{}{}

func (m *DueTime) invalid() string {
	return ""
}

// DueTimeMessageID stands in the frame's header.
const DueTimeMessageID uint16 = 54

// MessageID of the message.
func (m *DueTime) MessageID() uint16 {
	return 54
}

// AsBytes are those of the message itself, not a copy.
func (m *DueTime) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *DueTime) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("DueTime", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("DueTime", field)
	}
	return nil
}

// StateBegin has 8 bytes. A matching process begins with empty books: what came before is void.
type StateBegin struct {
	// Generation of the process.
	Generation uint64
}

// The layout is the contract's, or this does not compile.
var _ [8]struct{} = [unsafe.Sizeof(StateBegin{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(StateBegin{}.Generation)]struct{}{}

func (m *StateBegin) invalid() string {
	return ""
}

// StateBeginMessageID stands in the frame's header.
const StateBeginMessageID uint16 = 55

// MessageID of the message.
func (m *StateBegin) MessageID() uint16 {
	return 55
}

// AsBytes are those of the message itself, not a copy.
func (m *StateBegin) AsBytes() []byte {
	return (*[8]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *StateBegin) Decode(payload []byte) error {
	if len(payload) != 8 {
		return sizeError("StateBegin", 8, len(payload))
	}
	copy((*[8]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("StateBegin", field)
	}
	return nil
}

// RecordImage has 72 bytes. An order in the book beside a recorded or quoted market, the market's or a strategy's, at its place among the records. A link that is the largest number leads nowhere.
type RecordImage struct {
	// The number of a strategy's order, the market's reference of one of the market.
	Reference uint64
	// Its limit price.
	Price Price
	// How much of it still works.
	Open Quantity
	// Of a strategy's order: the total ever asked for. Of one that was swept away: how much of it strategies had taken.
	Quantity Quantity
	// Of the market's: how much of it strategies took. Of one that was swept away: all that is open.
	Taken Quantity
	// Its place.
	Place uint32
	// Who is behind it at its price.
	Next uint32
	// Who is before it at its price.
	Previous uint32
	// The same strategy's next order.
	PeerNext uint32
	// The same strategy's order before it.
	PeerPrevious uint32
	// For which account, where that matters.
	Account uint32
	// Its instrument.
	Instrument InstrumentID
	// Its side.
	Side Side
	// 0: nothing is at this place; 1: the market's; 2: a strategy's; 3: a strategy's that may not take; 4: the market's, swept away by a clear, at its place for the snapshot that may bring it back; 5 and 6: as 2 and 3, and the order outlives the day.
	OwnerKind uint8
	// Zero.
	_ [2]byte
}

// The layout is the contract's, or this does not compile.
var _ [72]struct{} = [unsafe.Sizeof(RecordImage{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(RecordImage{}.Reference)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(RecordImage{}.Price)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(RecordImage{}.Open)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(RecordImage{}.Quantity)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(RecordImage{}.Taken)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(RecordImage{}.Place)]struct{}{}
var _ [44]struct{} = [unsafe.Offsetof(RecordImage{}.Next)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(RecordImage{}.Previous)]struct{}{}
var _ [52]struct{} = [unsafe.Offsetof(RecordImage{}.PeerNext)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(RecordImage{}.PeerPrevious)]struct{}{}
var _ [60]struct{} = [unsafe.Offsetof(RecordImage{}.Account)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(RecordImage{}.Instrument)]struct{}{}
var _ [68]struct{} = [unsafe.Offsetof(RecordImage{}.Side)]struct{}{}
var _ [69]struct{} = [unsafe.Offsetof(RecordImage{}.OwnerKind)]struct{}{}

func (m *RecordImage) invalid() string {
	if !m.Side.IsListed() {
		return "side"
	}
	return ""
}

// RecordImageMessageID stands in the frame's header.
const RecordImageMessageID uint16 = 56

// MessageID of the message.
func (m *RecordImage) MessageID() uint16 {
	return 56
}

// AsBytes are those of the message itself, not a copy.
func (m *RecordImage) AsBytes() []byte {
	return (*[72]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *RecordImage) Decode(payload []byte) error {
	if len(payload) != 72 {
		return sizeError("RecordImage", 72, len(payload))
	}
	copy((*[72]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("RecordImage", field)
	}
	return nil
}

// BookImage has 24 bytes. What is known of an instrument beside a recorded or quoted market, besides its orders. Beside a quoted market, what is left of the latest `Quote`(crate.Quote) follows. Where strategies took something of what quotes show, two more follow it: by price, how much they took, and how much the market had there.
type BookImage struct {
	// Which instrument.
	Instrument InstrumentID
	// What is true of it, in matching's own bits.
	Bits uint32
	// The market's time of its latest message.
	EventTime Nanos
	// Zero. In recordings of older programs, so many `TakenImage` follow.
	Carried uint64
}

// The layout is the contract's, or this does not compile.
var _ [24]struct{} = [unsafe.Sizeof(BookImage{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(BookImage{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(BookImage{}.Bits)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(BookImage{}.EventTime)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(BookImage{}.Carried)]struct{}{}

func (m *BookImage) invalid() string {
	return ""
}

// BookImageMessageID stands in the frame's header.
const BookImageMessageID uint16 = 57

// MessageID of the message.
func (m *BookImage) MessageID() uint16 {
	return 57
}

// AsBytes are those of the message itself, not a copy.
func (m *BookImage) AsBytes() []byte {
	return (*[24]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *BookImage) Decode(payload []byte) error {
	if len(payload) != 24 {
		return sizeError("BookImage", 24, len(payload))
	}
	copy((*[24]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("BookImage", field)
	}
	return nil
}

// TakenImage has 24 bytes. What strategies had taken of an order of the market that was swept away and may come again. No longer written: such orders are `RecordImage`s.
type TakenImage struct {
	// The market's reference.
	Reference uint64
	// How much.
	Taken Quantity
	// Its instrument.
	Instrument InstrumentID
	// Zero.
	_ [4]byte
}

// The layout is the contract's, or this does not compile.
var _ [24]struct{} = [unsafe.Sizeof(TakenImage{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(TakenImage{}.Reference)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(TakenImage{}.Taken)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(TakenImage{}.Instrument)]struct{}{}

func (m *TakenImage) invalid() string {
	return ""
}

// TakenImageMessageID stands in the frame's header.
const TakenImageMessageID uint16 = 58

// MessageID of the message.
func (m *TakenImage) MessageID() uint16 {
	return 58
}

// AsBytes are those of the message itself, not a copy.
func (m *TakenImage) AsBytes() []byte {
	return (*[24]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *TakenImage) Decode(payload []byte) error {
	if len(payload) != 24 {
		return sizeError("TakenImage", 24, len(payload))
	}
	copy((*[24]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("TakenImage", field)
	}
	return nil
}

// MarketRead has 16 bytes. When a request was carried out, the market had been read so far. It holds for those that follow, until the next.
type MarketRead struct {
	// Position in `td.orders` of the request.
	Request uint64
	// Position in `md.flow` or `md.quotes` of the last message before it.
	Market uint64
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(MarketRead{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(MarketRead{}.Request)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(MarketRead{}.Market)]struct{}{}

func (m *MarketRead) invalid() string {
	return ""
}

// MarketReadMessageID stands in the frame's header.
const MarketReadMessageID uint16 = 59

// MessageID of the message.
func (m *MarketRead) MessageID() uint16 {
	return 59
}

// AsBytes are those of the message itself, not a copy.
func (m *MarketRead) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *MarketRead) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("MarketRead", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("MarketRead", field)
	}
	return nil
}

// AccountOpen has 152 bytes. An account begins.
type AccountOpen struct {
	// Its number; never given out twice.
	Account AccountID
	// Its group; zero: none.
	Group uint32
	// The account whose rules of fees and margin hold where there are none of its own; zero: none.
	Parent AccountID
	// By which rules it trades.
	Kind AccountKind
	// Which cost leaves at a close.
	Method CostMethod
	// Zero.
	_ [2]byte
	// In which money its limits and its equity are counted.
	Currency Text8
	// Its name.
	Name Text32
	// Who opens it.
	Who Text32
	// For which reason.
	Why Text64
}

// The layout is the contract's, or this does not compile.
var _ [152]struct{} = [unsafe.Sizeof(AccountOpen{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(AccountOpen{}.Account)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(AccountOpen{}.Group)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(AccountOpen{}.Parent)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(AccountOpen{}.Kind)]struct{}{}
var _ [13]struct{} = [unsafe.Offsetof(AccountOpen{}.Method)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(AccountOpen{}.Currency)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(AccountOpen{}.Name)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(AccountOpen{}.Who)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(AccountOpen{}.Why)]struct{}{}

func (m *AccountOpen) invalid() string {
	if !m.Kind.IsListed() {
		return "kind"
	}
	if !m.Method.IsListed() {
		return "method"
	}
	return ""
}

// AccountOpenMessageID stands in the frame's header.
const AccountOpenMessageID uint16 = 60

// MessageID of the message.
func (m *AccountOpen) MessageID() uint16 {
	return 60
}

// AsBytes are those of the message itself, not a copy.
func (m *AccountOpen) AsBytes() []byte {
	return (*[152]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *AccountOpen) Decode(payload []byte) error {
	if len(payload) != 152 {
		return sizeError("AccountOpen", 152, len(payload))
	}
	copy((*[152]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("AccountOpen", field)
	}
	return nil
}

// AccountChange has 128 bytes. Something happens to accounts.
type AccountChange struct {
	// Number of the account, group or strategy; zero for the platform.
	Subject uint32
	// What the number is of.
	Scope AccountScope
	// What happens.
	Action AccountAction
	// Zero.
	_ [2]byte
	// How much; of money that comes in or goes out, otherwise zero.
	Amount WideMoney
	// In which currency; otherwise empty.
	Currency Text8
	// Who does it.
	Who Text32
	// For which reason.
	Why Text64
}

// The layout is the contract's, or this does not compile.
var _ [128]struct{} = [unsafe.Sizeof(AccountChange{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(AccountChange{}.Subject)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(AccountChange{}.Scope)]struct{}{}
var _ [5]struct{} = [unsafe.Offsetof(AccountChange{}.Action)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(AccountChange{}.Amount)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(AccountChange{}.Currency)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(AccountChange{}.Who)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(AccountChange{}.Why)]struct{}{}

func (m *AccountChange) invalid() string {
	if !m.Scope.IsListed() {
		return "scope"
	}
	if !m.Action.IsListed() {
		return "action"
	}
	return ""
}

// AccountChangeMessageID stands in the frame's header.
const AccountChangeMessageID uint16 = 61

// MessageID of the message.
func (m *AccountChange) MessageID() uint16 {
	return 61
}

// AsBytes are those of the message itself, not a copy.
func (m *AccountChange) AsBytes() []byte {
	return (*[128]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *AccountChange) Decode(payload []byte) error {
	if len(payload) != 128 {
		return sizeError("AccountChange", 128, len(payload))
	}
	copy((*[128]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("AccountChange", field)
	}
	return nil
}

// AccountLimit has 136 bytes. A limit is set or lifted, or a check switched.
type AccountLimit struct {
	// Number of the account, group or strategy; zero for the platform.
	Subject uint32
	// What the number is of.
	Scope AccountScope
	// What is limited.
	Limit LimitKind
	// What is done.
	Change LimitChange
	// Zero.
	_ [1]byte
	// Only in this instrument, of position limits; zero: in each.
	Instrument InstrumentID
	// How many may come at once, of rates.
	Burst uint32
	// The limit, where it is no money.
	Number uint64
	// The limit, where it is money.
	Amount WideMoney
	// Who does it.
	Who Text32
	// For which reason.
	Why Text64
}

// The layout is the contract's, or this does not compile.
var _ [136]struct{} = [unsafe.Sizeof(AccountLimit{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(AccountLimit{}.Subject)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(AccountLimit{}.Scope)]struct{}{}
var _ [5]struct{} = [unsafe.Offsetof(AccountLimit{}.Limit)]struct{}{}
var _ [6]struct{} = [unsafe.Offsetof(AccountLimit{}.Change)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(AccountLimit{}.Instrument)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(AccountLimit{}.Burst)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(AccountLimit{}.Number)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(AccountLimit{}.Amount)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(AccountLimit{}.Who)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(AccountLimit{}.Why)]struct{}{}

func (m *AccountLimit) invalid() string {
	if !m.Scope.IsListed() {
		return "scope"
	}
	if !m.Limit.IsListed() {
		return "limit"
	}
	if !m.Change.IsListed() {
		return "change"
	}
	return ""
}

// AccountLimitMessageID stands in the frame's header.
const AccountLimitMessageID uint16 = 62

// MessageID of the message.
func (m *AccountLimit) MessageID() uint16 {
	return 62
}

// AsBytes are those of the message itself, not a copy.
func (m *AccountLimit) AsBytes() []byte {
	return (*[136]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *AccountLimit) Decode(payload []byte) error {
	if len(payload) != 136 {
		return sizeError("AccountLimit", 136, len(payload))
	}
	copy((*[136]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("AccountLimit", field)
	}
	return nil
}

// FeeRule has 184 bytes. A charge on fills. For a fill the most specific rule of a number holds among those that are for such fills: of the account, its parent, everybody; among these of the instrument, the longest prefix, everything. A rule takes the place of those of the same number, account and instruments that are for some of the same fills.
type FeeRule struct {
	// For which account; zero: everybody.
	Account AccountID
	// In which instrument; zero: as `prefix` says.
	Instrument InstrumentID
	// In instruments whose names begin like this; empty: all.
	Prefix Text24
	// Which charge: of its rules one holds for a fill.
	Charge uint16
	// Who gets it.
	Kind ChargeKind
	// For purchases, sales, or both.
	Side FeeSide
	// For opening, closing, or all.
	Event FeeEvent
	// For orders that rested, or that came in; none of the two: for both.
	Flags uint8
	// Zero.
	_ [2]byte
	// What it is rounded up to, in 1e-9 of the currency; zero: 1e-9.
	Unit uint64
	// Part of what the fills are worth, in 1e-9.
	Rate uint64
	// For each share, lot or contract.
	PerLot WideMoney
	// Least that an order pays once it has traded so.
	Minimum WideMoney
	// Who does it.
	Who Text32
	// For which reason.
	Why Text64
}

// The layout is the contract's, or this does not compile.
var _ [184]struct{} = [unsafe.Sizeof(FeeRule{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(FeeRule{}.Account)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(FeeRule{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(FeeRule{}.Prefix)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(FeeRule{}.Charge)]struct{}{}
var _ [34]struct{} = [unsafe.Offsetof(FeeRule{}.Kind)]struct{}{}
var _ [35]struct{} = [unsafe.Offsetof(FeeRule{}.Side)]struct{}{}
var _ [36]struct{} = [unsafe.Offsetof(FeeRule{}.Event)]struct{}{}
var _ [37]struct{} = [unsafe.Offsetof(FeeRule{}.Flags)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(FeeRule{}.Unit)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(FeeRule{}.Rate)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(FeeRule{}.PerLot)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(FeeRule{}.Minimum)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(FeeRule{}.Who)]struct{}{}
var _ [120]struct{} = [unsafe.Offsetof(FeeRule{}.Why)]struct{}{}

func (m *FeeRule) invalid() string {
	if !m.Kind.IsListed() {
		return "kind"
	}
	if !m.Side.IsListed() {
		return "side"
	}
	if !m.Event.IsListed() {
		return "event"
	}
	return ""
}

// FeeRuleMessageID stands in the frame's header.
const FeeRuleMessageID uint16 = 63

// MessageID of the message.
func (m *FeeRule) MessageID() uint16 {
	return 63
}

// AsBytes are those of the message itself, not a copy.
func (m *FeeRule) AsBytes() []byte {
	return (*[184]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *FeeRule) Decode(payload []byte) error {
	if len(payload) != 184 {
		return sizeError("FeeRule", 184, len(payload))
	}
	copy((*[184]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("FeeRule", field)
	}
	return nil
}

// MarginRule has 176 bytes. How much margin a position takes. The most specific rule holds, as with `FeeRule`.
type MarginRule struct {
	// For which account; zero: everybody.
	Account AccountID
	// In which instrument; zero: as `prefix` says.
	Instrument InstrumentID
	// In instruments whose names begin like this; empty: all.
	Prefix Text24
	// Of a long position, part of what it is worth, in 1e-9.
	LongRate uint64
	// Of a short one.
	ShortRate uint64
	// Of a long position, for each lot.
	LongPerLot WideMoney
	// Of a short one.
	ShortPerLot WideMoney
	// Who does it.
	Who Text32
	// For which reason.
	Why Text64
}

// The layout is the contract's, or this does not compile.
var _ [176]struct{} = [unsafe.Sizeof(MarginRule{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(MarginRule{}.Account)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(MarginRule{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(MarginRule{}.Prefix)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(MarginRule{}.LongRate)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(MarginRule{}.ShortRate)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(MarginRule{}.LongPerLot)]struct{}{}
var _ [64]struct{} = [unsafe.Offsetof(MarginRule{}.ShortPerLot)]struct{}{}
var _ [80]struct{} = [unsafe.Offsetof(MarginRule{}.Who)]struct{}{}
var _ [112]struct{} = [unsafe.Offsetof(MarginRule{}.Why)]struct{}{}

func (m *MarginRule) invalid() string {
	return ""
}

// MarginRuleMessageID stands in the frame's header.
const MarginRuleMessageID uint16 = 64

// MessageID of the message.
func (m *MarginRule) MessageID() uint16 {
	return 64
}

// AsBytes are those of the message itself, not a copy.
func (m *MarginRule) AsBytes() []byte {
	return (*[176]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *MarginRule) Decode(payload []byte) error {
	if len(payload) != 176 {
		return sizeError("MarginRule", 176, len(payload))
	}
	copy((*[176]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("MarginRule", field)
	}
	return nil
}

// ContractTerms has 64 bytes. What the accounts need to know of an instrument.
type ContractTerms struct {
	// Which one.
	Instrument InstrumentID
	// What is true of it.
	Flags uint32
	// Its name.
	Symbol Text24
	// In which money it is paid.
	Currency Text8
	// One lot is worth the price times this; at least 1.
	Multiplier uint64
	// Lowest price an order may have, or `Price.NONE`.
	PriceLow Price
	// Highest price an order may have, or `Price.NONE`.
	PriceHigh Price
}

// The layout is the contract's, or this does not compile.
var _ [64]struct{} = [unsafe.Sizeof(ContractTerms{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(ContractTerms{}.Instrument)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(ContractTerms{}.Flags)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(ContractTerms{}.Symbol)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(ContractTerms{}.Currency)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(ContractTerms{}.Multiplier)]struct{}{}
var _ [48]struct{} = [unsafe.Offsetof(ContractTerms{}.PriceLow)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(ContractTerms{}.PriceHigh)]struct{}{}

func (m *ContractTerms) invalid() string {
	return ""
}

// ContractTermsMessageID stands in the frame's header.
const ContractTermsMessageID uint16 = 65

// MessageID of the message.
func (m *ContractTerms) MessageID() uint16 {
	return 65
}

// AsBytes are those of the message itself, not a copy.
func (m *ContractTerms) AsBytes() []byte {
	return (*[64]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *ContractTerms) Decode(payload []byte) error {
	if len(payload) != 64 {
		return sizeError("ContractTerms", 64, len(payload))
	}
	copy((*[64]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("ContractTerms", field)
	}
	return nil
}

// CurrencyRate has 16 bytes. What a currency is worth in the currency that the platform counts in.
type CurrencyRate struct {
	// Which currency.
	Currency Text8
	// In 1e-9; positive.
	Rate uint64
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(CurrencyRate{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(CurrencyRate{}.Currency)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(CurrencyRate{}.Rate)]struct{}{}

func (m *CurrencyRate) invalid() string {
	return ""
}

// CurrencyRateMessageID stands in the frame's header.
const CurrencyRateMessageID uint16 = 66

// MessageID of the message.
func (m *CurrencyRate) MessageID() uint16 {
	return 66
}

// AsBytes are those of the message itself, not a copy.
func (m *CurrencyRate) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *CurrencyRate) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("CurrencyRate", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("CurrencyRate", field)
	}
	return nil
}

// SettlementPrice has 16 bytes. First step of a settlement: the price at which an instrument's positions are settled.
type SettlementPrice struct {
	// The day, as 20260131.
	Day uint32
	// Of which instrument; zero: prices that were entered and not executed are taken back.
	Instrument InstrumentID
	// The price.
	Price Price
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(SettlementPrice{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(SettlementPrice{}.Day)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(SettlementPrice{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(SettlementPrice{}.Price)]struct{}{}

func (m *SettlementPrice) invalid() string {
	return ""
}

// SettlementPriceMessageID stands in the frame's header.
const SettlementPriceMessageID uint16 = 67

// MessageID of the message.
func (m *SettlementPrice) MessageID() uint16 {
	return 67
}

// AsBytes are those of the message itself, not a copy.
func (m *SettlementPrice) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *SettlementPrice) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("SettlementPrice", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("SettlementPrice", field)
	}
	return nil
}

// Settle has 40 bytes. Second step of a settlement: all prices are there, execute it.
type Settle struct {
	// The day, as 20260131.
	Day uint32
	// How it is meant.
	Flags uint32
	// Who does it.
	Who Text32
}

// The layout is the contract's, or this does not compile.
var _ [40]struct{} = [unsafe.Sizeof(Settle{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Settle{}.Day)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(Settle{}.Flags)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Settle{}.Who)]struct{}{}

func (m *Settle) invalid() string {
	return ""
}

// SettleMessageID stands in the frame's header.
const SettleMessageID uint16 = 68

// MessageID of the message.
func (m *Settle) MessageID() uint16 {
	return 68
}

// AsBytes are those of the message itself, not a copy.
func (m *Settle) AsBytes() []byte {
	return (*[40]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Settle) Decode(payload []byte) error {
	if len(payload) != 40 {
		return sizeError("Settle", 40, len(payload))
	}
	copy((*[40]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Settle", field)
	}
	return nil
}

// EntryResult has 16 bytes. What became of an entry of `desk.entries`. If it was taken, its copy is the frame before this one: there it took effect. Without a position: those that the platform file begins with are all taken.
type EntryResult struct {
	// Position of the entry in `desk.entries`.
	Entry uint64
	// Why it was refused, by the numbers of `docs/accounts.md`; zero: it was taken.
	Refusal uint32
	// The instrument or the day that the refusal is about; otherwise zero.
	About uint32
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(EntryResult{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(EntryResult{}.Entry)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(EntryResult{}.Refusal)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(EntryResult{}.About)]struct{}{}

func (m *EntryResult) invalid() string {
	return ""
}

// EntryResultMessageID stands in the frame's header.
const EntryResultMessageID uint16 = 69

// MessageID of the message.
func (m *EntryResult) MessageID() uint16 {
	return 69
}

// AsBytes are those of the message itself, not a copy.
func (m *EntryResult) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *EntryResult) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("EntryResult", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("EntryResult", field)
	}
	return nil
}

// Mark has 16 bytes. The price at which positions count from here on.
type Mark struct {
	// Of which instrument.
	Instrument InstrumentID
	// Zero.
	_ [4]byte
	// The price.
	Price Price
}

// The layout is the contract's, or this does not compile.
var _ [16]struct{} = [unsafe.Sizeof(Mark{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(Mark{}.Instrument)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(Mark{}.Price)]struct{}{}

func (m *Mark) invalid() string {
	return ""
}

// MarkMessageID stands in the frame's header.
const MarkMessageID uint16 = 70

// MessageID of the message.
func (m *Mark) MessageID() uint16 {
	return 70
}

// AsBytes are those of the message itself, not a copy.
func (m *Mark) AsBytes() []byte {
	return (*[16]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *Mark) Decode(payload []byte) error {
	if len(payload) != 16 {
		return sizeError("Mark", 16, len(payload))
	}
	copy((*[16]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("Mark", field)
	}
	return nil
}

// AccountState has 136 bytes. How an account stands, in its own currency. One slot of `ledger.accounts`, by the order of opening.
type AccountState struct {
	// Which account.
	Account AccountID
	// Orders at work.
	OpenOrders uint32
	// Whose own account it is; `u16.MAX`: nobody's.
	Owner StrategyID
	// By which rules it trades.
	Kind AccountKind
	// What is true of it.
	Flags uint8
	// Zero.
	_ [4]byte
	// Its currency.
	Currency Text8
	// Position in the drop copy before which everything is contained.
	Drops uint64
	// Margin as a part of equity, in 1e-9; the largest number where there is margin and no equity.
	RiskRatio uint64
	// The money that is there, of all currencies.
	Balance WideMoney
	// What it is worth.
	Equity WideMoney
	// What new orders and withdrawals may use.
	Available WideMoney
	// What orders at work hold back.
	Frozen WideMoney
	// Margin of its positions.
	Margin WideMoney
	// Profit and loss since the begin of the day.
	DayResult WideMoney
}

// The layout is the contract's, or this does not compile.
var _ [136]struct{} = [unsafe.Sizeof(AccountState{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(AccountState{}.Account)]struct{}{}
var _ [4]struct{} = [unsafe.Offsetof(AccountState{}.OpenOrders)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(AccountState{}.Owner)]struct{}{}
var _ [10]struct{} = [unsafe.Offsetof(AccountState{}.Kind)]struct{}{}
var _ [11]struct{} = [unsafe.Offsetof(AccountState{}.Flags)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(AccountState{}.Currency)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(AccountState{}.Drops)]struct{}{}
var _ [32]struct{} = [unsafe.Offsetof(AccountState{}.RiskRatio)]struct{}{}
var _ [40]struct{} = [unsafe.Offsetof(AccountState{}.Balance)]struct{}{}
var _ [56]struct{} = [unsafe.Offsetof(AccountState{}.Equity)]struct{}{}
var _ [72]struct{} = [unsafe.Offsetof(AccountState{}.Available)]struct{}{}
var _ [88]struct{} = [unsafe.Offsetof(AccountState{}.Frozen)]struct{}{}
var _ [104]struct{} = [unsafe.Offsetof(AccountState{}.Margin)]struct{}{}
var _ [120]struct{} = [unsafe.Offsetof(AccountState{}.DayResult)]struct{}{}

func (m *AccountState) invalid() string {
	if !m.Kind.IsListed() {
		return "kind"
	}
	return ""
}

// AccountStateMessageID stands in the frame's header.
const AccountStateMessageID uint16 = 71

// MessageID of the message.
func (m *AccountState) MessageID() uint16 {
	return 71
}

// AsBytes are those of the message itself, not a copy.
func (m *AccountState) AsBytes() []byte {
	return (*[136]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *AccountState) Decode(payload []byte) error {
	if len(payload) != 136 {
		return sizeError("AccountState", 136, len(payload))
	}
	copy((*[136]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("AccountState", field)
	}
	return nil
}

// DeskPart has 4064 bytes. Part of a snapshot of all accounts, in `ledger.desk`: the bytes of all parts in a row are the snapshot.
type DeskPart struct {
	// Position in the drop copy before which everything is contained.
	Drops uint64
	// Number of this part, from zero.
	Part uint32
	// How many parts there are.
	Parts uint32
	// How many of its bytes count.
	Length uint32
	// Zero.
	_ [4]byte
	// The bytes, as the accounts' crate writes them; zeros behind them.
	Bytes [4040]byte
}

// The layout is the contract's, or this does not compile.
var _ [4064]struct{} = [unsafe.Sizeof(DeskPart{})]struct{}{}
var _ [0]struct{} = [unsafe.Offsetof(DeskPart{}.Drops)]struct{}{}
var _ [8]struct{} = [unsafe.Offsetof(DeskPart{}.Part)]struct{}{}
var _ [12]struct{} = [unsafe.Offsetof(DeskPart{}.Parts)]struct{}{}
var _ [16]struct{} = [unsafe.Offsetof(DeskPart{}.Length)]struct{}{}
var _ [24]struct{} = [unsafe.Offsetof(DeskPart{}.Bytes)]struct{}{}

func (m *DeskPart) invalid() string {
	return ""
}

// DeskPartMessageID stands in the frame's header.
const DeskPartMessageID uint16 = 72

// MessageID of the message.
func (m *DeskPart) MessageID() uint16 {
	return 72
}

// AsBytes are those of the message itself, not a copy.
func (m *DeskPart) AsBytes() []byte {
	return (*[4064]byte)(unsafe.Pointer(m))[:]
}

// Decode copies a payload into the message.
func (m *DeskPart) Decode(payload []byte) error {
	if len(payload) != 4064 {
		return sizeError("DeskPart", 4064, len(payload))
	}
	copy((*[4064]byte)(unsafe.Pointer(m))[:], payload)
	if field := m.invalid(); field != "" {
		return invalidError("DeskPart", field)
	}
	return nil
}

// New is a message of this kind, empty; nil for an id that is not of this version.
func New(id uint16) Message {
	switch id {
	case 1:
		return new(Instrument)
	case 2:
		return new(Quote)
	case 3:
		return new(TradePrint)
	case 4:
		return new(BookEvent)
	case 5:
		return new(MarketPhase)
	case 6:
		return new(Indicative)
	case 7:
		return new(Best)
	case 8:
		return new(MarketTime)
	case 10:
		return new(NewOrder)
	case 11:
		return new(CancelOrder)
	case 12:
		return new(ReplaceOrder)
	case 13:
		return new(LatencySample)
	case 14:
		return new(CancelAll)
	case 15:
		return new(Statistics)
	case 16:
		return new(ClientOrder)
	case 17:
		return new(KeptOrder)
	case 20:
		return new(OrderUpdate)
	case 21:
		return new(Fill)
	case 30:
		return new(SnapshotBegin)
	case 31:
		return new(SnapshotEnd)
	case 32:
		return new(PositionState)
	case 40:
		return new(NodeEvent)
	case 41:
		return new(EndOfStream)
	case 50:
		return new(OrderImage)
	case 51:
		return new(MarketImage)
	case 52:
		return new(NewestOrder)
	case 53:
		return new(StateEnd)
	case 54:
		return new(DueTime)
	case 55:
		return new(StateBegin)
	case 56:
		return new(RecordImage)
	case 57:
		return new(BookImage)
	case 58:
		return new(TakenImage)
	case 59:
		return new(MarketRead)
	case 60:
		return new(AccountOpen)
	case 61:
		return new(AccountChange)
	case 62:
		return new(AccountLimit)
	case 63:
		return new(FeeRule)
	case 64:
		return new(MarginRule)
	case 65:
		return new(ContractTerms)
	case 66:
		return new(CurrencyRate)
	case 67:
		return new(SettlementPrice)
	case 68:
		return new(Settle)
	case 69:
		return new(EntryResult)
	case 70:
		return new(Mark)
	case 71:
		return new(AccountState)
	case 72:
		return new(DeskPart)
	}
	return nil
}
