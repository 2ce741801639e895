// Fields of coupons, promotion codes, and what schedules and invoices say of them.

const PAUSABLE =
  'DRAFT until it is activated. INACTIVE is a pause, from which it can be activated again. ARCHIVED is final. It can only ' +
  'be redeemed while it is ACTIVE. Subscriptions that have redeemed it keep it.'
const DURATION = 'On how many invoices it counts.'
const LIMITED =
  'What it is taken off: everything that is named, in any of the lists. Without any, the total of the schedule.'
const MAXIMUM = 'How often it can be redeemed in all. Null: without limit.'
const START = 'From when on it can be redeemed. Null: at once.'
const END = 'When it can be redeemed no longer. Null: never.'
const CODES =
  'Promotion codes, as customers typed them; each redeems its coupon when the schedule is saved. Case does not count.'
const CARRY =
  'Whether the new schedule has the coupons of the other. NONE (the default): no. CARRY_OVER: yes, each from where it began.'
const CODE =
  'What customers type: letters, digits, `-` and `_`. Case does not count. It is generated when it is left out.'
const FORMAT =
  'The form of a code that is generated: each `#` becomes an upper-case letter or a digit, such as `SPRING-####`.'
const CUSTOMERS = 'The customers who may redeem it. Without any, all of them.'

const each = (names: readonly string[], text: string) => Object.fromEntries(names.map(name => [name, text]))
const forms = (shape: string, member: string, text: string) =>
  each([`${shape}.${member}`, `${shape}Create.${member}`, `${shape}Update.${member}`], text)
/** Of what never changes. */
const twoForms = (shape: string, member: string, text: string) =>
  each([`${shape}.${member}`, `${shape}Create.${member}`], text)

export const COUPONS: Readonly<Record<string, string>> = {
  ...forms('Coupon', 'status', PAUSABLE),
  ...twoForms('PromotionCode', 'status', PAUSABLE),
  ...forms('Coupon', 'discount', 'What it takes off. It never changes once the coupon is live.'),
  ...forms('Coupon', 'duration', `${DURATION} It never changes once the coupon is live.`),
  ...forms('Coupon', 'limited_to', `${LIMITED} It never changes once the coupon is live.`),
  ...forms('Coupon', 'start_at', START),
  ...twoForms('PromotionCode', 'start_at', START),
  ...forms('Coupon', 'end_at', `${END} Subscriptions that have redeemed it keep it.`),
  ...twoForms('PromotionCode', 'end_at', `${END} Subscriptions that have redeemed it keep it.`),
  ...twoForms('PromotionCode', 'limited_to', CUSTOMERS),
  ...twoForms('PromotionCode', 'code', CODE),
  ...twoForms('PromotionCode', 'code_format', FORMAT),
  maximum_redemptions: MAXIMUM,
  number_of_redemptions: 'How often it was redeemed. A subscription that has it counts once.',
  coupon_id: 'Id of a coupon.',
  coupon_ids: 'Ids of coupons that the schedule has; each is redeemed when the schedule is saved.',
  coupon_name: 'The name of the coupon when it was redeemed.',
  coupon_data: 'Of a discount by a coupon: the coupon, and the promotion code it was redeemed by.',
  coupon_discount: 'What the coupons of the schedule take off together. Free usage is not in it.',
  coupon_discount_behaviour: CARRY,
  'PricingPlanSubscriptionsCopyRequest.coupon_discount_behaviour':
    'Whether the copy has the coupons, which it then redeems once more. CARRY_OVER (the default): yes. NONE: no.',
  coupons: 'The coupons of the schedule, as they were when they were redeemed.',
  promotion_codes: CODES,
  promotion_code: 'The code by which the coupon was redeemed. Null: by its id.',
  promotion_code_id: 'Id of a promotion code.',
  promotion_code_resource_id: 'Id of the promotion code by which the coupon was redeemed.',
  promotion_code_details: 'The code by which the coupon was redeemed. Null: by its id.',
  'PromotionCodeDetails.code': 'The code.',
  redeemed_at: 'When it was redeemed.',
  'Invoice.coupons':
    'The coupons that took something off the invoice. Left out where there are none, and in lists without periods.',
  'Invoice.promotion_codes':
    'The promotion codes by which those coupons were redeemed. Left out where there are none, and in lists without periods.',
  'InvoiceCoupon.': 'A coupon that took something off the invoice.',
  'InvoicePromotionCode.': 'A promotion code, and the coupon that it redeemed.',
  'AppliedDiscount.product_items': 'Discounts by coupons on product items.',
  'AppliedDiscount.products': 'Discounts by coupons on products.',
  'AppliedDiscount.product_categories': 'Discounts by coupons on product categories.',
  'AppliedDiscount.totals': 'Discounts by coupons on the total of the schedule on an invoice.',
  'AppliedDiscountOnIds.ids': 'Ids of what the coupon is limited to.',
  'AppliedDiscountOnIds.amount': 'What is deducted. Null: `percentage` says it.',
  'AppliedTotalDiscount.amount': 'What is deducted. Null: `percentage` says it.',
  'AppliedCoupon.': 'A coupon of a schedule.',
  'AppliedCoupon.duration': DURATION,
  'AppliedCoupon.discount': 'What it takes off, with the time it is for. Null: free usage.',
  'CouponDiscount.type': 'PERCENTAGE of what it is limited to, AMOUNT of money, or USAGE that is free.',
  'CouponDiscount.percentage': 'With PERCENTAGE: above 0, at most 100.',
  'CouponDiscount.amount':
    'With AMOUNT: taken once an invoice, or once a billing period where it is limited; never below zero.',
  'CouponDiscount.usage': 'With USAGE: how much of a meter value is free on each invoice, in the order of the items.',
  'CouponDiscountUsage.number': 'How much is free of a meter value that is a NUMBER.',
  'CouponDiscountUsage.amount': 'How much is free of a meter value that is an AMOUNT.',
  'CouponDuration.type':
    'ONE_TIME: the first invoice that charges something. FOREVER: every invoice. PERIOD: the invoices whose time begins in the period.',
  'CouponDuration.period':
    'With PERIOD: its length, from the start of the schedule, or from when a schedule that is ACTIVE takes it.',
  'CouponLimits.product_categories': 'The product categories, with `expand[]`.',
  'CouponLimits.products': 'The products, with `expand[]`.',
  'CouponLimits.product_items': 'The product items, with `expand[]`.',
  'PromotionCodeLimits.customers': 'The customers, with `expand[]`.',
}
