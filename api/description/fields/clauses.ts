// Fields of the discounts, markups and minimums of a schedule.

const IDS = 'Ids of what the list is for: of prices in `pricing_item_configs`, of pricings in `pricings`, and so on.'
const MINIMUM = 'The least that is charged.'
const DEDUCTED = 'What is deducted. Give it, or `percentage`.'

export const CLAUSES: Readonly<Record<string, string>> = {
  discount: 'What is deducted from the invoices of the schedule, by what it is limited to.',
  'Discount.pricing_item_configs': 'Discounts on prices.',
  'Discount.pricing_items': 'Discounts on pricing items.',
  'Discount.pricings': 'Discounts on pricings.',
  'Discount.product_items': 'Discounts on product items.',
  'Discount.products': 'Discounts on products.',
  'Discount.product_categories': 'Discounts on product categories.',
  'Discount.totals':
    'Discounts on the total of the schedule on an invoice; an amount is deducted once for each invoice.',
  'DiscountOnIds.ids': IDS,
  'DiscountOnIds.amount': DEDUCTED,
  'TotalDiscount.amount': DEDUCTED,
  'DiscountCondition.comparator': 'How the amount is compared.',
  'DiscountCondition.value': 'What the amount is compared with.',
  'DiscountConditionValue.amount': 'The amount to compare with.',
  markup: 'What is put on top of prices of the schedule.',
  'Markup.pricing_item_configs': 'Markups on prices: a percentage, or an amount once a period.',
  'MarkupOnIds.ids': 'Ids of prices of pricing items.',
  'MarkupOnIds.amount': 'What is put on top, once a period. Give it, or `percentage`.',
  commitment: 'Minimums of the schedule: what is missing is charged on a line of type COMMITMENT.',
  'Commitment.pricing_item_configs': 'Minimums of prices: of money, or of what is metered.',
  'Commitment.pricing_items': 'Minimums of pricing items.',
  'Commitment.pricings': 'Minimums of pricings.',
  'Commitment.totals': 'Minimums of the whole invoice, after every discount.',
  'CommitmentOnConfigs.ids': 'Ids of prices of pricing items.',
  'CommitmentOnConfigs.amount': `${MINIMUM} Give it, or \`meter_value_calculation\`.`,
  'CommitmentOnConfigs.meter_value_calculation':
    'A minimum of what is metered, of one price: the units that are missing cost what they would after those that were used.',
  'CommitmentOnIds.ids': IDS,
  'CommitmentOnIds.amount': MINIMUM,
  'TotalCommitment.amount': MINIMUM,
  condition: 'The discount applies when the amount it would apply to compares like this.',
  'MeterValueCalculationCommitment.number': 'The fewest units, where numbers are metered.',
  'MeterValueCalculationCommitment.amount': 'The least money, where money is metered.',
}
