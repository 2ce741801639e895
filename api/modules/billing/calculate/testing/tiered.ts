// The price in tiers that is calculated, and where its id is.
import { eur } from '../../../../testing/catalog.ts'
import type { Row } from '../../../../testing/wire.ts'

export const TIERED = {
  pricing_type: 'TIERED',
  bands: [
    { amount: eur('0.10'), tier_top_bound: { number: '1000' } },
    { amount: eur('0.08'), tier_top_bound: { number: '10000' } },
    { amount: eur('0.05') },
  ],
}

export const configOf = (pricing: Row) => (pricing['items'] as { configs: Row[] }[])[0]?.configs[0]?.['id']
