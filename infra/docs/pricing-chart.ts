// The picture of a price: what is charged for each usage, as an SVG that needs no font, script or colour scheme.
import { decimal } from '../../shared/decimal.ts'
import { chargeAt, type Example, figure } from './pricing-models.ts'

const [WIDTH, HEIGHT] = [560, 240]
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 24, 20, 44]
const SAMPLES = 400
const TICKS = 4

type Point = { readonly usage: number; readonly charge: number }

/** The smallest round number (1, 2, 2.5 or 5 times a power of ten, times four) that is not below `value`. */
function roundUp(value: number): number {
  const step = 10 ** Math.floor(Math.log10(value / TICKS))
  const factor = [1, 2, 2.5, 5, 10].find(each => each * step * TICKS >= value) ?? 10
  return factor * step * TICKS
}

/** Points of the curve, for a drawing only: money is never computed from them. */
function sample({ price, rows }: Example): Point[] {
  const last = roundUp(Math.max(...rows.map(row => figure(row['usage']).toNumber())) * 1.02)
  return Array.from({ length: SAMPLES + 1 }, (_, index) => {
    const usage = Math.round((last * index) / SAMPLES)
    return { usage, charge: chargeAt(price, decimal(String(usage))).toNumber() }
  })
}

/** The picture of an example's price over the usage that its table shows. */
export function drawPrice(example: Example): string {
  const points = sample(example)
  const maxUsage = points.at(-1)?.usage ?? 1
  const maxCharge = roundUp(Math.max(...points.map(point => point.charge)))
  const x = (usage: number) => LEFT + ((WIDTH - LEFT - RIGHT) * usage) / maxUsage
  const y = (charge: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * charge) / maxCharge
  const at = (value: number) => value.toFixed(1)
  const label = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 2 })
  const ticks = Array.from({ length: TICKS + 1 }, (_, index) => index / TICKS)
  const grid = ticks.map(part => {
    const [across, up] = [x(part * maxUsage), y(part * maxCharge)]
    return [
      `<line x1="${LEFT}" y1="${at(up)}" x2="${WIDTH - RIGHT}" y2="${at(up)}" stroke="#d9dde3"/>`,
      `<text x="${LEFT - 8}" y="${at(up + 4)}" text-anchor="end">${label(part * maxCharge)}</text>`,
      `<text x="${at(across)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${label(part * maxUsage)}</text>`,
    ].join('\n')
  })
  const path = points.map(({ usage, charge }) => `${at(x(usage))},${at(y(charge))}`).join(' ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="sans-serif" font-size="12" fill="#333">
<title>${example.title}: charge in ${example.price.currency} by usage</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${grid.join('\n')}
<polyline fill="none" stroke="#1f5fbf" stroke-width="2" points="${path}"/>
<text x="${WIDTH - RIGHT}" y="${HEIGHT - 6}" text-anchor="end">usage, in units</text>
<text x="${LEFT}" y="12">charge, in ${example.price.currency}</text>
</svg>
`
}
