// A QR code as filled rectangles: sharp at every size.
import { encode } from 'uqr'
import type { Paper } from './paper.ts'

export const QR_SIZE = 84

/** Draws the code of `text`; `alt` says what it is for. */
export function drawQr(paper: Paper, text: string, { x, y, alt }: { x: number; y: number; alt: string }): void {
  const { data, size } = encode(text, { ecc: 'M', border: 2 })
  const { document } = paper
  const figure = paper.element(paper.root, 'Figure', { alt })
  figure.add(document.markStructureContent('Figure' as never))
  const cell = QR_SIZE / size
  document.save()
  for (const [row, cells] of data.entries()) {
    const line = cells.map(dark => (dark ? '#' : ' ')).join('')
    for (const { index, 0: dark } of line.matchAll(/#+/g)) {
      document.rect(x + index * cell, y + row * cell, dark.length * cell, cell)
    }
  }
  document.fill('#000000')
  document.restore()
  document.endMarkedContent()
  figure.end()
}
