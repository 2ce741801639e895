// The head of the document: logo, title with its number, stamp, parties, dates and amount due.
import type { Block, DocumentModel, Fact } from '../model/document-model.ts'
import { LINE_HEIGHT, type Paper, type Style } from './paper.ts'

const INK = '#1a1d21'
const GREY = '#5c6570'
export const BODY: Style = { size: 9, weight: 400, color: INK }
export const STRONG: Style = { ...BODY, weight: 700 }
export const SMALL: Style = { size: 8, weight: 400, color: GREY }
const LOGO = { width: 170, height: 48 }
const STAMP_COLORS = { DRAFT: '#8a6100', PAID: '#1d7a3a', VOID: '#b3261e' } as const

export function drawHead(paper: Paper, model: DocumentModel): void {
  const top = paper.y
  const logo = drawLogo(paper, model)
  const title = drawTitle(paper, model)
  paper.y = Math.max(top + logo, top + title) + 14
  paper.artifact(() => paper.rule(paper.y, { color: model.accentColor, width: 1.5 }))
  paper.y += 14
  drawParties(paper, model)
  drawFacts(paper, model)
}

/** The logo in the corner, or the issuer's name; returns its height. */
function drawLogo(paper: Paper, { logo, issuer }: DocumentModel): number {
  const { document, left, y, root } = paper
  if (logo === null) {
    const style: Style = { size: 14, weight: 700, color: INK }
    const lines = paper.lines(issuer, style, paper.width / 2)
    paper.tagged(root, 'P', () => paper.text(lines, { x: left, y, width: paper.width / 2 }, style))
    return lines.length * style.size * LINE_HEIGHT
  }
  const figure = paper.element(root, 'Figure', { alt: issuer })
  figure.add(document.markStructureContent('Figure' as never))
  document.image(logo.content, left, y, { fit: [LOGO.width, LOGO.height] })
  document.endMarkedContent()
  figure.end()
  return LOGO.height
}

function drawTitle(paper: Paper, model: DocumentModel): number {
  const { root, width, left } = paper
  const heading: Style = { size: 20, weight: 700, color: model.accentColor }
  const box = { x: left + width / 2, y: paper.y, width: width / 2 }
  const title = paper.lines(model.heading, heading, box.width)
  const number = model.number === null ? [] : paper.lines(model.number, STRONG, box.width)
  let height = 0
  paper.tagged(root, 'H1', () => {
    height += paper.text(title, box, heading, 'right')
    height += paper.text(number, { ...box, y: box.y + height }, STRONG, 'right')
  })
  return height + drawStamp(paper, model, { ...box, y: box.y + height })
}

/** DRAFT, PAID or VOID in a frame, under the title. */
function drawStamp(paper: Paper, { stamp }: DocumentModel, box: { x: number; y: number; width: number }): number {
  if (stamp === null) return 0
  const { document, root } = paper
  const style: Style = { size: 11, weight: 700, color: STAMP_COLORS[stamp.kind] }
  const lines = paper.lines(stamp.text.toLocaleUpperCase(), style, box.width)
  const width = Math.max(0, ...lines.map(line => (line.width * style.size) / 1000)) + 16
  const height = style.size * LINE_HEIGHT + 6
  const x = box.x + box.width - width
  paper.artifact(() =>
    document
      .save()
      .roundedRect(x, box.y + 4, width, height, 3)
      .lineWidth(1.2)
      .strokeColor(style.color)
      .stroke()
      .restore(),
  )
  paper.tagged(root, 'P', () => paper.text(lines, { x: x + 8, y: box.y + 7, width }, style))
  return height + 6
}

function drawParties(paper: Paper, { seller, buyer }: DocumentModel): void {
  const gap = 24
  const width = (paper.width - gap) / 2
  const heights = [seller, buyer].map((block, index) =>
    drawBlock(paper, block, { x: paper.left + index * (width + gap), y: paper.y, width }),
  )
  paper.y += Math.max(...heights) + 14
}

function drawBlock(paper: Paper, block: Block, box: { x: number; y: number; width: number }): number {
  const section = paper.element(paper.root, 'Sect')
  let y = box.y
  const paragraph = (text: string, style: Style): void => {
    const lines = paper.lines(text, style, box.width)
    paper.tagged(section, 'P', () => {
      y += paper.text(lines, { ...box, y }, style)
    })
  }
  paragraph(block.head, SMALL)
  paragraph(block.name, STRONG)
  for (const line of block.lines) paragraph(line, BODY)
  section.end()
  return y - box.y
}

/** The dates side by side, with the amount due on their right. */
function drawFacts(paper: Paper, model: DocumentModel): void {
  const dueWidth = model.due === null ? 0 : 150
  const room = paper.width - dueWidth
  const width = room / Math.max(1, model.facts.length)
  const heights = model.facts.map((fact, index) =>
    drawFact(paper, fact, { x: paper.left + index * width, y: paper.y, width: width - 10 }),
  )
  if (model.due) heights.push(drawDue(paper, model.due, model.accentColor, dueWidth))
  paper.y += Math.max(0, ...heights) + 16
}

function drawFact(paper: Paper, { label, value }: Fact, box: { x: number; y: number; width: number }): number {
  const labels = paper.lines(label, SMALL, box.width)
  const values = paper.lines(value, BODY, box.width)
  let height = 0
  paper.tagged(paper.root, 'P', () => {
    height += paper.text(labels, box, SMALL)
    height += paper.text(values, { ...box, y: box.y + height }, BODY)
  })
  return height
}

function drawDue(paper: Paper, { label, value }: Fact, color: string, width: number): number {
  const style: Style = { size: 14, weight: 700, color }
  const box = { x: paper.right - width, y: paper.y, width }
  const labels = paper.lines(label, SMALL, width)
  const values = paper.lines(value, style, width)
  let height = 0
  paper.tagged(paper.root, 'P', () => {
    height += paper.text(labels, box, SMALL, 'right')
    height += paper.text(values, { ...box, y: box.y + height }, style, 'right')
  })
  return height
}
