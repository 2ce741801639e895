// Wire shapes of price calculations: the request and the full explanation. Nothing is stored.
import Type, { type Static } from 'typebox'
import {
  Amount,
  Country,
  Currency,
  DecimalText,
  IdText,
  Nullable,
  OneOf,
  Optional,
  Period,
  Shape,
  Timestamp,
} from '../../../resource/shapes.ts'
import { Credits } from '../../catalog/credit-types/schema.ts'
import { PricingItemConfigShape } from '../../catalog/pricing-plans/schema.ts'
import { BandDetails, MeterValue } from '../../invoices/lines/schema.ts'
import { InvoicePreview } from '../preview/preview-shape.ts'

const QUANTITIES_MAX = 100
const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))

const usage = { number: Given(DecimalText), amount: Given(Amount), count: Given(DecimalText) }
const PriceQuantity = Shape(
  { ...usage, tiering_number: Given(DecimalText), rollover_number: Given(DecimalText) },
  { title: 'PriceQuantity' },
)
const VersionQuantity = Shape(
  { pricing_item_config_id: IdText('price'), ...usage, tiering_number: Given(DecimalText) },
  { title: 'VersionQuantity' },
)

const ImaginedCustomer = Shape(
  {
    type: Optional(OneOf('ORGANIZATION', 'INDIVIDUAL')),
    country: Country,
    state: Given(Type.String({ minLength: 1, maxLength: 100 })),
    postal_code: Given(Type.String({ minLength: 1, maxLength: 20 })),
    tax_id: Given(Type.String({ minLength: 1, maxLength: 64 })),
    sales_tax_percentage: Given(DecimalText),
  },
  { title: 'ImaginedCustomer' },
)

export const CalculatePriceBody = Shape(
  {
    pricing_item_config_id: Given(IdText('price')),
    pricing_item_config: Given(PricingItemConfigShape),
    value_type: Given(OneOf('NUMBER', 'AMOUNT')),
    pricing_currency: Given(Currency),
    meter_values: Given(Type.Array(PriceQuantity, { minItems: 1, maxItems: QUANTITIES_MAX })),
  },
  { title: 'PriceCalculate' },
)

export const CalculateVersionBody = Shape(
  {
    customer: Given(ImaginedCustomer),
    billing_entity_id: Given(IdText('billing entity')),
    pricing_currency: Given(Currency),
    billing_period: Given(Period),
    start_at: Given(Timestamp),
    meter_values: Given(Type.Array(VersionQuantity, { maxItems: QUANTITIES_MAX })),
  },
  { title: 'PricingPlanVersionCalculate' },
)

const Money = Type.Object({ quantity: Type.String(), currency: Type.String() })
const PriceBound = Optional(Type.String())
const CalculatedBand = Type.Object(
  {
    band: BandDetails,
    meter_value: MeterValue,
    amount: Optional(Money),
    /** Of a price in credits, in place of an amount. */
    credits: Optional(Credits),
    price_bound: PriceBound,
    description: Type.String(),
  },
  { title: 'CalculatedBand' },
)
const Calculation = Type.Object(
  {
    meter_value: MeterValue,
    billable_meter_value: MeterValue,
    amount: Optional(Money),
    rounded_amount: Optional(Money),
    /** Of a price in credits, in place of the amounts. */
    credits: Optional(Credits),
    rollover_number: Type.String(),
    description: Type.String(),
    bands: Type.Array(CalculatedBand),
  },
  { title: 'Calculation' },
)

export const CalculatedPrice = Type.Object(
  {
    object_type: Type.Literal('PRICE_CALCULATION'),
    pricing_type: Type.String(),
    pricing_currency: Optional(Type.String()),
    /** Of a price in credits, in place of the currency. */
    credit_type_id: Optional(Type.String()),
    calculations: Type.Array(Calculation),
  },
  { title: 'PriceCalculation' },
)

export const CalculatedVersion = Type.Object(
  {
    object_type: Type.Literal('PRICING_PLAN_VERSION_CALCULATION'),
    pricing_plan_version_id: Type.String(),
    invoices: Type.Array(InvoicePreview),
  },
  { title: 'PricingPlanVersionCalculation' },
)

const CurvePoint = Type.Object(
  {
    number: Optional(Type.String()),
    amount: Optional(Money),
    charge: Optional(Money),
    /** Of a price in credits, in place of the charge. */
    credits: Optional(Credits),
  },
  { title: 'CurvePoint' },
)
const CurvePiece = Type.Object(
  {
    from: CurvePoint,
    to: CurvePoint,
    kind: OneOf('LINE', 'STEP'),
    bands: Type.Array(Type.Integer()),
    price_bounds: Type.Array(OneOf('MINIMUM_NUMBER', 'MAXIMUM_NUMBER', 'MINIMUM_AMOUNT', 'MAXIMUM_AMOUNT')),
  },
  { title: 'CurvePiece' },
)
const Curve = Type.Object(
  {
    pricing_id: Type.String(),
    pricing_item_id: Type.String(),
    pricing_item_config_id: Type.String(),
    product_item_id: Type.String(),
    name: Type.String(),
    pricing_type: Type.String(),
    pricing_currency: Optional(Type.String()),
    /** Of a price in credits, in place of the currency. */
    credit_type_id: Optional(Type.String()),
    pieces: Type.Array(CurvePiece),
  },
  { title: 'PriceCurve' },
)
export const VersionCurve = Type.Object(
  {
    object_type: Type.Literal('PRICING_PLAN_VERSION_CURVE'),
    pricing_plan_version_id: Type.String(),
    curves: Type.Array(Curve),
  },
  { title: 'PricingPlanVersionCurve' },
)

export type CalculatePriceBody = Static<typeof CalculatePriceBody>
export type CalculateVersionBody = Static<typeof CalculateVersionBody>
export type VersionQuantity = Static<typeof VersionQuantity>
export type PriceQuantity = Static<typeof PriceQuantity>
export type ImaginedCustomer = Static<typeof ImaginedCustomer>
export type CalculatedVersion = Static<typeof CalculatedVersion>
export type CalculatedPrice = Static<typeof CalculatedPrice>
export type VersionCurve = Static<typeof VersionCurve>
