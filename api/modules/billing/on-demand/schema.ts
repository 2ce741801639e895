// Wire shapes of on-demand charges (contract: Units on one-off items).
import Type, { type Static } from 'typebox'
import { Amount, IdText, Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { MeteredValue } from '../../catalog/pricing-plans/schema.ts'
import { InvoiceView } from '../../invoices/schema.ts'

const Given = <T extends Type.TSchema>(schema: T) => Optional(Nullable(schema))
const ITEMS_MAX = 100

export const OnDemandItemShape = Shape(
  {
    pricing_item_id: IdText('pricing item'),
    units: Given(MeteredValue),
    flexible_amount: Given(Amount),
  },
  { title: 'OnDemandItem' },
)

export const OnDemandChargeBody = Shape(
  {
    pricing_plan_schedule_id: IdText('pricing plan schedule'),
    pricing_items: Type.Array(OnDemandItemShape, { minItems: 1, maxItems: ITEMS_MAX }),
    start_at: Given(Timestamp),
    finalize_immediately: Given(Type.Boolean()),
    preview: Given(Type.Boolean()),
  },
  { title: 'OnDemandCharge' },
)
export type OnDemandChargeBody = Static<typeof OnDemandChargeBody>

const { id, created_at, updated_at, ...others } = InvoiceView.properties
/** The invoice of a charge; a preview has no id and no times, because nothing is stored. */
export const OnDemandInvoice = Type.Object(
  { id: Optional(id), created_at: Optional(created_at), updated_at: Optional(updated_at), ...others },
  { title: 'OnDemandInvoice' },
)
