// A QR code as inline SVG: one path, dark on white whatever the colours of the page are.
import { encode } from 'uqr'
import { type Html, html } from '../pages/html.ts'

/** The code for `text`; `label` describes it for those who cannot see it. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const runs = data.flatMap((row, y) =>
    [
      ...row
        .map(dark => (dark ? '#' : ' '))
        .join('')
        .matchAll(/#+/g),
    ].map(({ index, 0: { length } }) => `M${index} ${y}h${length}v1h-${length}z`),
  )
  return html`<svg class="qr" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${runs.join('')}" fill="#000"/>
</svg>`
}
