// Code generated from the constants of colo; DO NOT EDIT.
// Made by `cargo xtask gen` from the constants of colo; do not edit.

package layout

// Numbers, sizes and offsets of the messages in bytes, enumerations, flags: docs/messages.md.

// Units.
const (
	MessagesVersion = 12
	NoPrice         = int64(-9223372036854775808)
	PriceOne        = 1000000000
	MoneyOne        = 1000000
	MostOfBest      = 4294967295
	MaxInstruments  = 4096
)

// Instrument.
const (
	InstrumentMessage        = 1
	InstrumentSize           = 96
	InstrumentId             = 0
	InstrumentReserved       = 4
	InstrumentSymbol         = 8
	InstrumentTick           = 32
	InstrumentLot            = 40
	InstrumentPriceLow       = 48
	InstrumentPriceHigh      = 56
	InstrumentReferencePrice = 64
	InstrumentMaxQuantity    = 72
	InstrumentMultiplier     = 80
	InstrumentCurrency       = 88
)

// Level.
const (
	LevelSize     = 16
	LevelPrice    = 0
	LevelQuantity = 8
)

// Quote.
const (
	QuoteMessage      = 2
	QuoteSize         = 368
	QuoteInstrument   = 0
	QuoteFlags        = 4
	QuoteDue          = 8
	QuoteEventTime    = 16
	QuoteSequence     = 24
	QuoteLastPrice    = 32
	QuoteLastQuantity = 40
	QuoteBids         = 48
	QuoteAsks         = 208
)

// TradePrint.
const (
	TradePrintMessage    = 3
	TradePrintSize       = 56
	TradePrintInstrument = 0
	TradePrintAggressor  = 4
	TradePrintReserved   = 5
	TradePrintDue        = 8
	TradePrintEventTime  = 16
	TradePrintSequence   = 24
	TradePrintPrice      = 32
	TradePrintQuantity   = 40
	TradePrintTradeId    = 48
)

// BookEvent.
const (
	BookEventMessage    = 4
	BookEventSize       = 56
	BookEventInstrument = 0
	BookEventAction     = 4
	BookEventSide       = 5
	BookEventFlags      = 6
	BookEventOrderRef   = 8
	BookEventPrice      = 16
	BookEventQuantity   = 24
	BookEventEventTime  = 32
	BookEventSequence   = 40
	BookEventReserved   = 48
)

// MarketPhase.
const (
	MarketPhaseMessage    = 5
	MarketPhaseSize       = 24
	MarketPhaseInstrument = 0
	MarketPhasePhase      = 4
	MarketPhaseReserved   = 5
	MarketPhaseEventTime  = 8
	MarketPhaseSequence   = 16
)

// Indicative.
const (
	IndicativeMessage    = 6
	IndicativeSize       = 48
	IndicativeInstrument = 0
	IndicativeReserved   = 4
	IndicativePrice      = 8
	IndicativeQuantity   = 16
	IndicativeImbalance  = 24
	IndicativeEventTime  = 32
	IndicativeSequence   = 40
)

// Best.
const (
	BestMessage     = 7
	BestSize        = 32
	BestBid         = 0
	BestAsk         = 8
	BestBidQuantity = 16
	BestAskQuantity = 20
	BestDue         = 24
)

// MarketTime.
const (
	MarketTimeMessage   = 8
	MarketTimeSize      = 8
	MarketTimeEventTime = 0
)

// Cause.
const (
	CauseSize      = 40
	CausePosition  = 0
	CauseDue       = 8
	CausePublished = 16
	CauseReceived  = 24
	CauseJournal   = 32
	CauseReserved  = 36
)

// NewOrder.
const (
	NewOrderMessage     = 10
	NewOrderSize        = 96
	NewOrderOrderId     = 0
	NewOrderInstrument  = 8
	NewOrderSide        = 12
	NewOrderOrderType   = 13
	NewOrderTimeInForce = 14
	NewOrderFlags       = 15
	NewOrderPrice       = 16
	NewOrderQuantity    = 24
	NewOrderCause       = 32
	NewOrderAccount     = 72
	NewOrderDisplayLots = 76
	NewOrderTrigger     = 80
	NewOrderMinimumLots = 88
	NewOrderEndsS       = 92
)

// CancelOrder.
const (
	CancelOrderMessage    = 11
	CancelOrderSize       = 16
	CancelOrderOrderId    = 0
	CancelOrderInstrument = 8
	CancelOrderSource     = 12
)

// ReplaceOrder.
const (
	ReplaceOrderMessage    = 12
	ReplaceOrderSize       = 32
	ReplaceOrderOrderId    = 0
	ReplaceOrderInstrument = 8
	ReplaceOrderSource     = 12
	ReplaceOrderPrice      = 16
	ReplaceOrderQuantity   = 24
)

// LatencySample.
const (
	LatencySampleMessage   = 13
	LatencySampleSize      = 48
	LatencySampleOrderId   = 0
	LatencySampleDue       = 8
	LatencySamplePublished = 16
	LatencySampleReceived  = 24
	LatencySampleOrdered   = 32
	LatencySampleTaken     = 40
)

// CancelAll.
const (
	CancelAllMessage    = 14
	CancelAllSize       = 24
	CancelAllOrderId    = 0
	CancelAllInstrument = 8
	CancelAllSource     = 12
	CancelAllAccount    = 16
	CancelAllSide       = 20
	CancelAllFlags      = 21
	CancelAllReserved   = 22
)

// Statistics.
const (
	StatisticsMessage    = 15
	StatisticsSize       = 96
	StatisticsInstrument = 0
	StatisticsReserved   = 4
	StatisticsOpen       = 8
	StatisticsHigh       = 16
	StatisticsLow        = 24
	StatisticsLast       = 32
	StatisticsVolume     = 40
	StatisticsTrades     = 48
	StatisticsTradeId    = 56
	StatisticsTurnover   = 64
	StatisticsEventTime  = 80
	StatisticsSequence   = 88
)

// ClientOrder.
const (
	ClientOrderMessage  = 16
	ClientOrderSize     = 120
	ClientOrderOrderId  = 0
	ClientOrderToken    = 8
	ClientOrderClientId = 16
	ClientOrderAddress  = 64
	ClientOrderAccount  = 112
	ClientOrderFlags    = 116
)

// KeptOrder.
const (
	KeptOrderMessage      = 17
	KeptOrderSize         = 176
	KeptOrderOrderId      = 0
	KeptOrderToken        = 8
	KeptOrderSent         = 16
	KeptOrderPrice        = 24
	KeptOrderQuantity     = 32
	KeptOrderTrigger      = 40
	KeptOrderClientId     = 48
	KeptOrderAddress      = 96
	KeptOrderInstrument   = 144
	KeptOrderAccount      = 148
	KeptOrderDisplayLots  = 152
	KeptOrderMinimumLots  = 156
	KeptOrderEndsS        = 160
	KeptOrderFlags        = 164
	KeptOrderConditions   = 166
	KeptOrderReserved     = 167
	KeptOrderSide         = 168
	KeptOrderOrderType    = 169
	KeptOrderTimeInForce  = 170
	KeptOrderReservedTail = 171
)

// OrderUpdate.
const (
	OrderUpdateMessage        = 20
	OrderUpdateSize           = 88
	OrderUpdateOrderId        = 0
	OrderUpdateInstrument     = 8
	OrderUpdateSide           = 12
	OrderUpdateStatus         = 13
	OrderUpdateReason         = 14
	OrderUpdateReserved       = 15
	OrderUpdatePrice          = 16
	OrderUpdateQuantity       = 24
	OrderUpdateFilled         = 32
	OrderUpdateRemaining      = 40
	OrderUpdateEventTime      = 48
	OrderUpdateExecution      = 56
	OrderUpdateAnsweredUpTo   = 64
	OrderUpdateRefusedRequest = 72
	OrderUpdateReportedUpTo   = 80
)

// Fill.
const (
	FillMessage      = 21
	FillSize         = 72
	FillOrderId      = 0
	FillTradeId      = 8
	FillInstrument   = 16
	FillSide         = 20
	FillLiquidity    = 21
	FillReserved     = 22
	FillPrice        = 24
	FillQuantity     = 32
	FillRemaining    = 40
	FillEventTime    = 48
	FillExecution    = 56
	FillAnsweredUpTo = 64
)

// SnapshotBegin.
const (
	SnapshotBeginMessage    = 30
	SnapshotBeginSize       = 40
	SnapshotBeginSnapshot   = 0
	SnapshotBeginExecution  = 8
	SnapshotBeginStrategy   = 16
	SnapshotBeginReserved   = 18
	SnapshotBeginGeneration = 24
	SnapshotBeginTrade      = 32
)

// SnapshotEnd.
const (
	SnapshotEndMessage    = 31
	SnapshotEndSize       = 32
	SnapshotEndSnapshot   = 0
	SnapshotEndFrames     = 8
	SnapshotEndStrategy   = 16
	SnapshotEndReserved   = 18
	SnapshotEndGeneration = 24
)

// PositionState.
const (
	PositionStateMessage      = 32
	PositionStateSize         = 96
	PositionStateStrategy     = 0
	PositionStateReserved     = 2
	PositionStateInstrument   = 4
	PositionStatePosition     = 8
	PositionStateAveragePrice = 16
	PositionStateRealised     = 24
	PositionStateUnrealised   = 32
	PositionStateMarkPrice    = 40
	PositionStateBought       = 48
	PositionStateSold         = 56
	PositionStateFills        = 64
	PositionStateOrders       = 72
	PositionStateCash         = 80
)

// NodeEvent.
const (
	NodeEventMessage      = 40
	NodeEventSize         = 32
	NodeEventGeneration   = 0
	NodeEventSeat         = 8
	NodeEventChange       = 10
	NodeEventRole         = 11
	NodeEventPid          = 12
	NodeEventExitCode     = 16
	NodeEventReserved     = 20
	NodeEventReservedTail = 24
)

// EndOfStream.
const (
	EndOfStreamMessage        = 41
	EndOfStreamSize           = 48
	EndOfStreamQuotes         = 0
	EndOfStreamTrades         = 8
	EndOfStreamBookEvents     = 16
	EndOfStreamSourceMessages = 24
	EndOfStreamSkipped        = 32
	EndOfStreamRejected       = 40
)

// OrderImage.
const (
	OrderImageMessage      = 50
	OrderImageSize         = 96
	OrderImageOrderId      = 0
	OrderImagePrice        = 8
	OrderImageOpen         = 16
	OrderImageFilled       = 24
	OrderImageDisplay      = 32
	OrderImageShown        = 40
	OrderImageTriggerTicks = 48
	OrderImageEnds         = 56
	OrderImageInstrument   = 64
	OrderImageAccount      = 68
	OrderImageAgeNumber    = 72
	OrderImageBits         = 76
	OrderImageBehind       = 80
	OrderImageTurn         = 84
	OrderImageStrategy     = 88
	OrderImageRests        = 90
	OrderImageReserved     = 92
)

// MarketImage.
const (
	MarketImageMessage     = 51
	MarketImageSize        = 32
	MarketImageInstrument  = 0
	MarketImagePhase       = 4
	MarketImageReserved    = 5
	MarketImageLastPrice   = 8
	MarketImageAuctionEnds = 16
	MarketImageSequence    = 24
)

// NewestOrder.
const (
	NewestOrderMessage = 52
	NewestOrderSize    = 8
	NewestOrderOrderId = 0
)

// StateEnd.
const (
	StateEndMessage     = 53
	StateEndSize        = 80
	StateEndRequest     = 0
	StateEndTime        = 8
	StateEndExecution   = 16
	StateEndExecutions  = 24
	StateEndMarket      = 32
	StateEndBase        = 40
	StateEndTrade       = 48
	StateEndOrders      = 56
	StateEndAgeNumber   = 64
	StateEndInstruments = 68
	StateEndEnded       = 72
)

// DueTime.
const (
	DueTimeMessage = 54
	DueTimeSize    = 16
	DueTimeRequest = 0
	DueTimeTime    = 8
)

// StateBegin.
const (
	StateBeginMessage    = 55
	StateBeginSize       = 8
	StateBeginGeneration = 0
)

// RecordImage.
const (
	RecordImageMessage      = 56
	RecordImageSize         = 72
	RecordImageReference    = 0
	RecordImagePrice        = 8
	RecordImageOpen         = 16
	RecordImageQuantity     = 24
	RecordImageTaken        = 32
	RecordImagePlace        = 40
	RecordImageNext         = 44
	RecordImagePrevious     = 48
	RecordImagePeerNext     = 52
	RecordImagePeerPrevious = 56
	RecordImageAccount      = 60
	RecordImageInstrument   = 64
	RecordImageSide         = 68
	RecordImageOwnerKind    = 69
	RecordImageReserved     = 70
)

// BookImage.
const (
	BookImageMessage    = 57
	BookImageSize       = 24
	BookImageInstrument = 0
	BookImageBits       = 4
	BookImageEventTime  = 8
	BookImageCarried    = 16
)

// TakenImage.
const (
	TakenImageMessage    = 58
	TakenImageSize       = 24
	TakenImageReference  = 0
	TakenImageTaken      = 8
	TakenImageInstrument = 16
	TakenImageReserved   = 20
)

// MarketRead.
const (
	MarketReadMessage = 59
	MarketReadSize    = 16
	MarketReadRequest = 0
	MarketReadMarket  = 8
)

// AccountOpen.
const (
	AccountOpenMessage  = 60
	AccountOpenSize     = 152
	AccountOpenAccount  = 0
	AccountOpenGroup    = 4
	AccountOpenParent   = 8
	AccountOpenKind     = 12
	AccountOpenMethod   = 13
	AccountOpenReserved = 14
	AccountOpenCurrency = 16
	AccountOpenName     = 24
	AccountOpenWho      = 56
	AccountOpenWhy      = 88
)

// AccountChange.
const (
	AccountChangeMessage  = 61
	AccountChangeSize     = 128
	AccountChangeSubject  = 0
	AccountChangeScope    = 4
	AccountChangeAction   = 5
	AccountChangeReserved = 6
	AccountChangeAmount   = 8
	AccountChangeCurrency = 24
	AccountChangeWho      = 32
	AccountChangeWhy      = 64
)

// AccountLimit.
const (
	AccountLimitMessage    = 62
	AccountLimitSize       = 136
	AccountLimitSubject    = 0
	AccountLimitScope      = 4
	AccountLimitLimit      = 5
	AccountLimitChange     = 6
	AccountLimitReserved   = 7
	AccountLimitInstrument = 8
	AccountLimitBurst      = 12
	AccountLimitNumber     = 16
	AccountLimitAmount     = 24
	AccountLimitWho        = 40
	AccountLimitWhy        = 72
)

// FeeRule.
const (
	FeeRuleMessage    = 63
	FeeRuleSize       = 184
	FeeRuleAccount    = 0
	FeeRuleInstrument = 4
	FeeRulePrefix     = 8
	FeeRuleCharge     = 32
	FeeRuleKind       = 34
	FeeRuleSide       = 35
	FeeRuleEvent      = 36
	FeeRuleFlags      = 37
	FeeRuleReserved   = 38
	FeeRuleUnit       = 40
	FeeRuleRate       = 48
	FeeRulePerLot     = 56
	FeeRuleMinimum    = 72
	FeeRuleWho        = 88
	FeeRuleWhy        = 120
)

// MarginRule.
const (
	MarginRuleMessage     = 64
	MarginRuleSize        = 176
	MarginRuleAccount     = 0
	MarginRuleInstrument  = 4
	MarginRulePrefix      = 8
	MarginRuleLongRate    = 32
	MarginRuleShortRate   = 40
	MarginRuleLongPerLot  = 48
	MarginRuleShortPerLot = 64
	MarginRuleWho         = 80
	MarginRuleWhy         = 112
)

// ContractTerms.
const (
	ContractTermsMessage    = 65
	ContractTermsSize       = 64
	ContractTermsInstrument = 0
	ContractTermsFlags      = 4
	ContractTermsSymbol     = 8
	ContractTermsCurrency   = 32
	ContractTermsMultiplier = 40
	ContractTermsPriceLow   = 48
	ContractTermsPriceHigh  = 56
)

// CurrencyRate.
const (
	CurrencyRateMessage  = 66
	CurrencyRateSize     = 16
	CurrencyRateCurrency = 0
	CurrencyRateRate     = 8
)

// SettlementPrice.
const (
	SettlementPriceMessage    = 67
	SettlementPriceSize       = 16
	SettlementPriceDay        = 0
	SettlementPriceInstrument = 4
	SettlementPricePrice      = 8
)

// Settle.
const (
	SettleMessage = 68
	SettleSize    = 40
	SettleDay     = 0
	SettleFlags   = 4
	SettleWho     = 8
)

// EntryResult.
const (
	EntryResultMessage = 69
	EntryResultSize    = 16
	EntryResultEntry   = 0
	EntryResultRefusal = 8
	EntryResultAbout   = 12
)

// Mark.
const (
	MarkMessage    = 70
	MarkSize       = 16
	MarkInstrument = 0
	MarkReserved   = 4
	MarkPrice      = 8
)

// AccountState.
const (
	AccountStateMessage    = 71
	AccountStateSize       = 136
	AccountStateAccount    = 0
	AccountStateOpenOrders = 4
	AccountStateOwner      = 8
	AccountStateKind       = 10
	AccountStateFlags      = 11
	AccountStateReserved   = 12
	AccountStateCurrency   = 16
	AccountStateDrops      = 24
	AccountStateRiskRatio  = 32
	AccountStateBalance    = 40
	AccountStateEquity     = 56
	AccountStateAvailable  = 72
	AccountStateFrozen     = 88
	AccountStateMargin     = 104
	AccountStateDayResult  = 120
)

// DeskPart.
const (
	DeskPartMessage  = 72
	DeskPartSize     = 4064
	DeskPartDrops    = 0
	DeskPartPart     = 8
	DeskPartParts    = 12
	DeskPartLength   = 16
	DeskPartReserved = 20
	DeskPartBytes    = 24
)

// AccountAction, one byte.
const (
	AccountActionDeposit  = 1
	AccountActionWithdraw = 2
	AccountActionFreeze   = 3
	AccountActionUnfreeze = 4
	AccountActionClose    = 5
	AccountActionKill     = 6
	AccountActionRevive   = 7
)

// AccountKind, one byte.
const (
	AccountKindCash    = 1
	AccountKindMargin  = 2
	AccountKindFutures = 3
)

// AccountScope, one byte.
const (
	AccountScopeAccount  = 1
	AccountScopeGroup    = 2
	AccountScopeStrategy = 3
	AccountScopePlatform = 4
)

// Aggressor, one byte.
const (
	AggressorBuy  = 1
	AggressorSell = 2
	AggressorNone = 3
)

// BookAction, one byte.
const (
	BookActionAdd     = 1
	BookActionReduce  = 2
	BookActionDelete  = 3
	BookActionExecute = 4
	BookActionModify  = 5
	BookActionTrade   = 6
	BookActionClear   = 7
)

// ChargeKind, one byte.
const (
	ChargeKindFee = 1
	ChargeKindTax = 2
)

// CostMethod, one byte.
const (
	CostMethodAverage    = 1
	CostMethodFifo       = 2
	CostMethodSettlement = 3
)

// FeeEvent, one byte.
const (
	FeeEventAny        = 1
	FeeEventOpen       = 2
	FeeEventClose      = 3
	FeeEventCloseToday = 4
)

// FeeSide, one byte.
const (
	FeeSideBoth = 1
	FeeSideBuy  = 2
	FeeSideSell = 3
)

// LimitChange, one byte.
const (
	LimitChangeSet     = 1
	LimitChangeLift    = 2
	LimitChangeEnable  = 3
	LimitChangeDisable = 4
)

// LimitKind, one byte.
const (
	LimitKindPosition          = 1
	LimitKindGrossNotional     = 2
	LimitKindOrderQuantity     = 3
	LimitKindOrderNotional     = 4
	LimitKindOrderRate         = 5
	LimitKindMessageRate       = 6
	LimitKindOpenOrders        = 7
	LimitKindLoss              = 8
	LimitKindRejectRate        = 9
	LimitKindRunawayRate       = 10
	LimitKindMarginCall        = 11
	LimitKindForcedLiquidation = 12
	LimitKindMoney             = 13
	LimitKindPriceBand         = 14
	LimitKindSelfTrade         = 15
	LimitKindShortSale         = 16
)

// Liquidity, one byte.
const (
	LiquidityMaker = 1
	LiquidityTaker = 2
)

// NodeChange, one byte.
const (
	NodeChangeJoined = 1
	NodeChangeLeft   = 2
	NodeChangeDied   = 3
	NodeChangePaused = 4
)

// NodeRole, one byte.
const (
	NodeRoleStrategy = 1
	NodeRolePlatform = 2
)

// OrderStatus, one byte.
const (
	OrderStatusAccepted        = 1
	OrderStatusPartiallyFilled = 2
	OrderStatusFilled          = 3
	OrderStatusCancelled       = 4
	OrderStatusRejected        = 5
	OrderStatusReplaced        = 6
	OrderStatusCancelRejected  = 7
	OrderStatusReplaceRejected = 8
	OrderStatusReduced         = 9
	OrderStatusTriggered       = 10
	OrderStatusMassCancelled   = 11
)

// OrderType, one byte.
const (
	OrderTypeLimit     = 1
	OrderTypeMarket    = 2
	OrderTypeStop      = 3
	OrderTypeStopLimit = 4
)

// Reason, one byte.
const (
	ReasonNone              = 1
	ReasonRequested         = 2
	ReasonUnknownInstrument = 3
	ReasonOffTick           = 4
	ReasonPriceBand         = 5
	ReasonQuantity          = 6
	ReasonWorkingOrders     = 7
	ReasonPositionLimit     = 8
	ReasonNoLiquidity       = 9
	ReasonNotFillable       = 10
	ReasonWouldTrade        = 11
	ReasonUnknownOrder      = 12
	ReasonNotYours          = 13
	ReasonDuplicateOrder    = 14
	ReasonStrategyGone      = 15
	ReasonMarketClosed      = 16
	ReasonMalformed         = 17
	ReasonOverload          = 18
	ReasonCallAuction       = 19
	ReasonUnknownAccount    = 20
	ReasonSelfTrade         = 21
	ReasonExpired           = 22
	ReasonUnsupported       = 23
	ReasonNotDurable        = 24
	ReasonInsufficientFunds = 25
	ReasonNotionalLimit     = 26
	ReasonOrderNotional     = 27
	ReasonOrderRate         = 28
	ReasonMessageRate       = 29
	ReasonShortSale         = 30
	ReasonNotTradable       = 31
	ReasonAccountFrozen     = 32
	ReasonAccountClosed     = 33
	ReasonKilled            = 34
	ReasonNotClosable       = 35
	ReasonNoWorstPrice      = 36
	ReasonForcedLiquidation = 37
)

// Side, one byte.
const (
	SideBuy  = 1
	SideSell = 2
)

// TimeInForce, one byte.
const (
	TimeInForceDay        = 1
	TimeInForceIoc        = 2
	TimeInForceFok        = 3
	TimeInForcePostOnly   = 4
	TimeInForceGtc        = 5
	TimeInForceGtd        = 6
	TimeInForceAtTheOpen  = 7
	TimeInForceAtTheClose = 8
)

// TradingPhase, one byte.
const (
	TradingPhaseClosed            = 1
	TradingPhasePreOpen           = 2
	TradingPhaseOpeningAuction    = 3
	TradingPhaseOpeningFreeze     = 4
	TradingPhasePause             = 5
	TradingPhaseContinuous        = 6
	TradingPhaseHalt              = 7
	TradingPhaseVolatilityAuction = 8
	TradingPhaseClosingAuction    = 9
	TradingPhaseClosingFreeze     = 10
)

// AccountStateFlags: bits.
const (
	AccountStateFlagsFrozen = 1
	AccountStateFlagsClosed = 2
	AccountStateFlagsKilled = 4
)

// BookEventFlags: bits.
const (
	BookEventFlagsLosesPriority = 1
	BookEventFlagsIsLast        = 2
	BookEventFlagsCallAuction   = 4
	BookEventFlagsIsSnapshot    = 8
	BookEventFlagsIsHidden      = 16
	BookEventFlagsHasNoSide     = 32
	BookEventFlagsIsUnprinted   = 64
)

// CancelAllFlags: bits.
const (
	CancelAllFlagsOfAccount = 1
	CancelAllFlagsOfSide    = 2
)

// ClientOrderFlags: bits.
const (
	ClientOrderFlagsEndsWithSession = 1
)

// ContractTermsFlags: bits.
const (
	ContractTermsFlagsTradable   = 1
	ContractTermsFlagsShortable  = 2
	ContractTermsFlagsTodayApart = 4
)

// FeeRuleFlags: bits.
const (
	FeeRuleFlagsMaker = 1
	FeeRuleFlagsTaker = 2
)

// KeptOrderFlags: bits.
const (
	KeptOrderFlagsEndsWithSession = 1
	KeptOrderFlagsMustEnd         = 2
)

// NewOrderFlags: bits.
const (
	NewOrderFlagsIsPostOnly      = 1
	NewOrderFlagsCancelNewest    = 2
	NewOrderFlagsCancelOldest    = 4
	NewOrderFlagsDecrement       = 8
	NewOrderFlagsOffsetOpen      = 16
	NewOrderFlagsOffsetToday     = 32
	NewOrderFlagsOffsetYesterday = 64
	NewOrderFlagsForced          = 128
)

// QuoteFlags: bits.
const (
	QuoteFlagsCallAuction = 1
)

// SettleFlags: bits.
const (
	SettleFlagsForcedSettlement = 1
)
