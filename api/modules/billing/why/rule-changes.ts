// Rules of pricing that changed after invoices had become FINAL by the rules before. `verify` prices by the rules of now, so it
// names those that explain a difference.
import { decimal, ONE } from '../../../../shared/decimal.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { clauseEntries } from '../../subscriptions/clauses/clause-entries.ts'
import { type CouponOfInvoice, isOnceForThings, redemptionOf } from '../rating/coupon-clauses.ts'
import type { BillingInputs, ConfigInput, ScheduleInput } from '../terms/billing-inputs.ts'

/** A member of the document in which it differs. */
type Difference = { readonly field: string; readonly issued: string | null; readonly computed: string | null }

type Verified = Pick<InvoiceRow, 'billing_type'> & {
  /** The prices that it was computed by. */
  readonly configs: readonly Pick<ConfigInput, 'pricing_type' | 'bands'>[]
  /** The coupons of its schedules. */
  readonly coupons: readonly Pick<CouponOfInvoice, 'discount' | 'limited_to' | 'endMoved'>[]
  /** The schedules of its late usage. */
  readonly late: readonly Pick<ScheduleInput, 'discount' | 'markup'>[]
  /** Absent where it has none of them. */
  readonly changed?: ChangedTerms
}

/** Terms of a subscription that count otherwise than before. */
export type ChangedTerms = {
  /** Usage is included in one of its prices, and it was paused. */
  readonly includesWhilePaused: boolean
  /** A schedule has a minimum of the whole invoice. */
  readonly hasTotalMinimum: boolean
  /** Several schedules have a coupon by one redemption. */
  readonly hasCarriedCoupon: boolean
  /** It sells seats, and a schedule has a coupon for one invoice. */
  readonly hasCouponOnceForSeats: boolean
}

/** Which of these terms the subscriptions of an invoice have. */
export function changedTermsOf(
  all: readonly {
    readonly inputs: Pick<BillingInputs, 'schedules' | 'subscription' | 'product_items'>
    readonly configs: readonly Pick<ConfigInput, 'default_included_volume'>[]
  }[],
): ChangedTerms {
  const schedules = all.flatMap(({ inputs }) => inputs.schedules)
  return {
    includesWhilePaused: all.some(
      ({ inputs, configs }) =>
        inputs.subscription.inactive_periods.some(({ type }) => type === 'PAUSE') &&
        (configs.some(config => config.default_included_volume) ||
          inputs.schedules.some(({ included_volumes: volumes = [] }) => volumes.length > 0)),
    ),
    hasTotalMinimum: schedules.some(({ commitment }) => (commitment?.totals ?? []).length > 0),
    hasCarriedCoupon: all.some(({ inputs }) => {
      const redemptions = inputs.schedules.flatMap(schedule =>
        (schedule.coupons ?? []).map(coupon => redemptionOf(coupon, schedule)),
      )
      return new Set(redemptions).size < redemptions.length
    }),
    hasCouponOnceForSeats: all.some(
      ({ inputs }) =>
        inputs.product_items.some(({ model_type }) => model_type === 'PER_SEAT') &&
        inputs.schedules.some(({ coupons = [] }) => coupons.some(({ duration }) => duration.type === 'ONE_TIME')),
    ),
  }
}

type RuleChange = {
  readonly text: string
  readonly explains: (difference: Difference, invoice: Verified) => boolean
}

const newFinding =
  (text: string): RuleChange['explains'] =>
  ({ field, issued, computed }) =>
    field.startsWith('content.validation_result') &&
    computed?.includes(text) === true &&
    issued?.includes(text) !== true

function endsInUnitSteps({ pricing_type, bands }: Verified['configs'][number]): boolean {
  const { number, amount } = bands?.at(-1)?.block_size ?? {}
  const size = number ?? amount?.quantity
  return pricing_type === 'STAIR_STEP_TOP_UP' && (bands?.length ?? 0) > 1 && size != null && decimal(size).eq(ONE)
}

const AMOUNTS = ['lines', 'amount_', 'tax_amount']

const endMoved = (coupon: Verified['coupons'][number]): boolean => coupon.endMoved

const hasPercentage = (schedule: Verified['late'][number]): boolean =>
  (['markup', 'discount'] as const).some(kind =>
    clauseEntries(kind, schedule).some(({ level, value }) => level !== null && value.percentage != null),
  )

const COUPONS =
  'A coupon on some things deducts its amount once for each invoice, and its condition is of the whole invoice. Before, both were for each period on it.'

const CARRIED =
  'A coupon that a later schedule took along is one coupon for the charges of both. Before, it counted for each schedule on the invoice.'

const ofAmounts =
  (has: (changed: ChangedTerms) => boolean): RuleChange['explains'] =>
  ({ field }, { changed }) =>
    AMOUNTS.some(start => field.startsWith(start)) && changed !== undefined && has(changed)

const CHANGES: readonly RuleChange[] = [
  {
    text: 'The tax of a self-billing invoice follows from the customer as the supplier. Before, the billing entity counted as the supplier.',
    explains: ({ field }, { billing_type }) =>
      billing_type === 'SELF_BILLING' &&
      ['content.tax_', 'content.validation_result', 'tax_amount', 'amount_including_tax'].some(start =>
        field.startsWith(start),
      ),
  },
  {
    text: 'An exchange rate that is more than 31 days older than the invoice keeps the invoice from becoming FINAL. Before, it was used.',
    explains: newFinding('The exchange rate of '),
  },
  {
    text: 'A country whose tax rate is not known keeps the invoice from becoming FINAL. Before, no tax was charged.',
    explains: newFinding('No tax rate of '),
  },
  {
    text: 'The last step of a STAIR_STEP_TOP_UP price with a block_size of 1 is 1 wide. Before, it was as wide as the step before it.',
    explains: ({ field }, { configs }) =>
      AMOUNTS.some(start => field.startsWith(start)) && configs.some(endsInUnitSteps),
  },
  {
    text: COUPONS,
    explains: ({ field }, { coupons }) =>
      AMOUNTS.some(start => field.startsWith(start)) && coupons.some(isOnceForThings),
  },
  {
    text: 'A coupon for a period that begins with the billing periods ends at the start of a day. Before, it ended at the time of day at which it began, and could be on one more invoice.',
    explains: ({ field }, { coupons }) => AMOUNTS.some(start => field.startsWith(start)) && coupons.some(endMoved),
  },
  {
    text: 'A percentage on a price is rounded for all usage of a period, and late usage has what is left of it. Before, it was rounded for the late usage alone.',
    explains: ({ field }, { late }) => AMOUNTS.some(start => field.startsWith(start)) && late.some(hasPercentage),
  },
  { text: CARRIED, explains: ofAmounts(({ hasCarriedCoupon }) => hasCarriedCoupon) },
  {
    text: 'The usage that a billing period includes is reduced by the days of a pause. Before, it was granted in full.',
    explains: ofAmounts(({ includesWhilePaused }) => includesWhilePaused),
  },
  {
    text: 'A minimum of the whole invoice is prorated by the days of the billing period of the subscription. Before, in a part of a period, the days of a charge in arrears decided, or the part counted as a whole period.',
    explains: ofAmounts(({ hasTotalMinimum }) => hasTotalMinimum),
  },
  {
    text: 'A coupon for one invoice is on the first that charges something. Before, one that charged no seats could use it up.',
    explains: ofAmounts(({ hasCouponOnceForSeats }) => hasCouponOnceForSeats),
  },
]

/** The changes of rules that explain differences of a FINAL invoice; empty when none does. */
export const ruleChanges = (invoice: Verified, differences: readonly Difference[]): string[] =>
  CHANGES.filter(({ explains }) => differences.some(each => explains(each, invoice))).map(({ text }) => text)

/** Whether a rule that changed may be why an invoice with these terms charges otherwise for usage that costs the same. */
export const rulesMayDiffer = ({
  billing_type,
  coupons,
  changed,
}: Pick<Verified, 'billing_type' | 'coupons' | 'changed'>): boolean =>
  billing_type === 'SELF_BILLING' ||
  coupons.some(coupon => isOnceForThings(coupon) || endMoved(coupon)) ||
  (changed !== undefined && Object.values(changed).includes(true))

/** Whether a rule that corrections do not keep to may be why an invoice charges otherwise than it did. */
export const isCorrectedByNewRules = ({ billing_type, configs, coupons, late, changed }: Verified): boolean =>
  billing_type === 'SELF_BILLING' ||
  configs.some(endsInUnitSteps) ||
  coupons.some(endMoved) ||
  late.some(hasPercentage) ||
  changed?.includesWhilePaused === true ||
  changed?.hasTotalMinimum === true ||
  changed?.hasCouponOnceForSeats === true

/** Those of these changes that corrections do not keep to: their new invoices are priced by the rules of now. */
export const newInCorrections = (changes: readonly string[]): string[] =>
  changes.filter(text => text !== COUPONS && text !== CARRIED)
