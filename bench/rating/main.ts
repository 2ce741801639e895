// `npm run build`, then `node dist/bench/rating/main.js [ratings]`: ratings of a five-tier price, beside the same arithmetic in
// plain numbers, in processor time. Exact decimals with every figure of every band kept must cost at most 25 times of it.
import { decimalOfInteger } from '../../shared/decimal.ts'
import { parsePriceConfig } from '../../shared/rating/parse/parse-price-config.ts'
import { numberVolume } from '../../shared/rating/price.ts'
import { rate } from '../../shared/rating/rate.ts'

const RATINGS = Number(process.argv[2] ?? 1_000_000)
const TIMES_MAX = 25

const TIERS = [
  { top: 1_000, price: 0.1 },
  { top: 10_000, price: 0.08 },
  { top: 100_000, price: 0.05 },
  { top: 1_000_000, price: 0.03 },
  { top: null, price: 0.01 },
] as const

const reading = parsePriceConfig(
  {
    pricing_type: 'TIERED',
    bands: TIERS.map(({ top, price }) => ({
      amount: { quantity: String(price), currency: 'EUR' },
      tier_top_bound: top === null ? null : { number: String(top) },
    })),
  },
  { metric: 'NUMBER' },
)
if (reading.kind === 'fault') throw new Error(reading.fault.message)
const { config } = reading

/** Volumes that reach every tier. */
const volumeAt = (index: number): number => (index * 7_919) % 2_000_000

/** What the plain side computes too: a charge for every tier, with its figures, and their sum. */
function ratePlainly(volume: number): number {
  let floor = 0
  const charges: { units: number; price: number; quantity: number }[] = []
  for (const { top, price } of TIERS) {
    if (floor > 0 && volume <= floor) break
    const units = (top === null || volume < top ? volume : top) - floor
    charges.push({ units, price, quantity: units * price })
    floor = top ?? floor
  }
  return charges.reduce((total, { quantity }) => total + quantity, 0)
}

function nanosecondsEach(work: (index: number) => number): number {
  for (let index = 0; index < RATINGS / 20; index += 1) work(index)
  const start = process.cpuUsage()
  let kept = 0
  for (let index = 0; index < RATINGS; index += 1) kept += work(index)
  if (Number.isNaN(kept)) throw new Error('a rating is a number')
  const { user, system } = process.cpuUsage(start)
  return ((user + system) * 1_000) / RATINGS
}

const volumes = Array.from({ length: 10_000 }, (_, index) => numberVolume(decimalOfInteger(volumeAt(index))))
const first = volumes[0] ?? numberVolume(decimalOfInteger(0))
const exact = nanosecondsEach(index => rate(config, volumes[index % volumes.length] ?? first).charges.length)
const plain = nanosecondsEach(index => ratePlainly(volumeAt(index % volumes.length)))
const times = exact / plain
console.log(
  `${RATINGS} ratings: exact ${exact.toFixed(0)} ns each, plain numbers ${plain.toFixed(0)} ns, ${times.toFixed(1)} times`,
)
if (times > TIMES_MAX) {
  console.error(`more than ${TIMES_MAX} times the plain arithmetic`)
  process.exitCode = 1
}
