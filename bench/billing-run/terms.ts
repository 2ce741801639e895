// Terms beside metered prices, as a run can have them (BENCH_TERMS=1): seats of three people, of whom one comes in the middle of the
// month, a discount on a product item, a coupon, a discount on the total and a minimum of the invoice.

type Call = (method: string, path: string, body?: unknown) => Promise<{ readonly id: string }>
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
const SEATS = 3
/** Into the month that is billed. */
const LATER_MS = 15 * 86_400_000

/** The item of the plan that is charged by seats, priced. */
export async function makeSeatItem(call: Call, productId: string): Promise<{ itemId: string; priced: object }> {
  const { id: itemId } = await call('POST', 'product-items', {
    reference: 'seats',
    product_id: productId,
    name: 'Seats',
    model_type: 'PER_SEAT',
    status: 'ACTIVE',
  })
  const configs = [{ pricing_type: 'FLAT', bands: [{ amount: eur('7.50') }] }]
  return { itemId, priced: { product_item_ids: [itemId], configs } }
}

/** What a schedule says of discounts and minimums; `itemId`: of the item that is discounted by itself. */
export async function termsOfSchedule(call: Call, itemId: string): Promise<object> {
  const coupon = await call('POST', 'coupons', {
    reference: 'welcome',
    name: 'Welcome',
    status: 'ACTIVE',
    discount: { type: 'PERCENTAGE', percentage: '5' },
    duration: { type: 'FOREVER' },
  })
  return {
    discount: { product_items: [{ ids: [itemId], percentage: '20' }], totals: [{ percentage: '10' }] },
    commitment: { totals: [{ amount: eur('1000000.00') }] },
    coupon_ids: [coupon.id],
  }
}

/** Who has a seat of the subscription. */
export async function takeSeats(
  call: Call,
  of: { readonly subscriptionId: string; readonly itemId: string; readonly startAt: string },
): Promise<void> {
  for (let place = 0; place < SEATS; place += 1) {
    const occupant = await call('POST', 'customers', {
      reference: `occupant-${place}`,
      type: 'ORGANIZATION',
      organization: { legal_name: `Occupant ${place}`, registered_address: { country: 'NL', city: 'Utrecht' } },
    })
    const startAt = Date.parse(of.startAt) + (place === SEATS - 1 ? LATER_MS : 0)
    await call('POST', 'seat-assignments', {
      pricing_plan_subscription_id: of.subscriptionId,
      product_item_id: of.itemId,
      customer_id: occupant.id,
      start_at: new Date(startAt).toISOString(),
    })
  }
}
