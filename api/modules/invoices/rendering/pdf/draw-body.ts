// The lines, the totals, the tax summary, how to pay, and the notes.
import type { DocumentModel, Row, Section } from '../model/document-model.ts'
import { BODY, SMALL, STRONG } from './draw-head.ts'
import { drawQr, QR_SIZE } from './draw-qr.ts'
import { drawTable, type TableRow } from './draw-table.ts'
import { LINE_HEIGHT, type Paper, type Style } from './paper.ts'

export function drawLines(paper: Paper, model: DocumentModel, nextPage: () => void): void {
  const amounts = { width: 92, align: 'right' } as const
  const figures = { width: 104, align: 'right' } as const
  const columns = [
    { width: paper.width - 2 * figures.width - amounts.width, align: 'left' } as const,
    figures,
    figures,
    amounts,
  ]
  const sections = model.sections.filter(({ rows }) => rows.length > 0)
  const rows = sections.flatMap(section => [headingRow(section), ...section.rows.map(lineRow)])
  const nothing: TableRow = { cells: [[{ text: model.nothingCharged, style: BODY }]], rule: true }
  drawTable(paper, {
    columns,
    head: headRow(model.columns, model.accentColor),
    rows: rows.length === 0 ? [nothing] : rows,
    nextPage,
  })
  paper.artifact(() => paper.rule(paper.y))
  paper.y += 10
}

const headRow = (texts: readonly string[], color: string): TableRow => ({
  cells: texts.map(text => [{ text, style: { ...STRONG, color } }]),
  rule: false,
})

const headingRow = ({ title, period }: Section): TableRow => ({
  cells: [
    [
      { text: title, style: STRONG },
      { text: period, style: SMALL },
    ],
  ],
  rule: true,
  keepWithNext: true,
})

function lineRow({ kind, text, notes, quantity, price, amount }: Row): TableRow {
  const style = kind === 'BAND' ? SMALL : BODY
  return {
    cells: [
      [{ text, style }, ...notes.map(note => ({ text: note, style: SMALL }))],
      [{ text: quantity, style }],
      [{ text: price, style }],
      [{ text: amount, style }],
    ],
    // One rule per line: its bands and explanations belong to it.
    rule: kind !== 'BAND',
    indent: kind === 'BAND' ? 20 : 8,
  }
}

export function drawTotals(paper: Paper, model: DocumentModel, nextPage: () => void): void {
  const width = 260
  const columns = [
    { width: paper.width - width, align: 'left' } as const,
    { width: 160, align: 'right' } as const,
    { width: 100, align: 'right' } as const,
  ]
  const rows = model.totals.map(({ label, value, strong }): TableRow => {
    const style = strong ? STRONG : BODY
    return { cells: [[], [{ text: label, style }], [{ text: value, style }]], rule: false, keepWithNext: true }
  })
  drawTable(paper, { columns, head: null, rows, nextPage })
  paper.y += 10
}

export function drawTaxes(paper: Paper, model: DocumentModel, nextPage: () => void): void {
  if (model.taxes.length === 0) return
  const figures = { width: 100, align: 'right' } as const
  const columns = [
    { width: paper.width - 280, align: 'left' } as const,
    { width: 80, align: 'right' } as const,
    figures,
    figures,
  ]
  const [, ...heads] = model.taxHead.columns
  drawTable(paper, {
    columns,
    head: headRow([model.taxHead.title, ...heads], model.accentColor),
    rows: model.taxes.map(({ name, rate, taxable, amount, notes }) => ({
      cells: [
        [{ text: name, style: BODY }, ...notes.map(note => ({ text: note, style: SMALL }))],
        [{ text: rate, style: BODY }],
        [{ text: taxable, style: BODY }],
        [{ text: amount, style: BODY }],
      ],
      rule: true,
    })),
    nextPage,
  })
  paper.y += 12
}

export function drawPayment(paper: Paper, model: DocumentModel, nextPage: () => void): void {
  const { title, accounts, links } = model.payment
  if (accounts.length === 0 && links.length === 0) return
  for (const [index, account] of accounts.entries()) {
    if (paper.y + QR_SIZE + 30 > paper.bottom) nextPage()
    if (index === 0) heading(paper, title, model.accentColor)
    const top = paper.y
    const room = paper.width - (account.qr === null ? 0 : QR_SIZE + 120)
    for (const { label, value } of account.facts) pair(paper, label, value, room)
    if (account.qr !== null) {
      drawQr(paper, account.qr, { x: paper.right - QR_SIZE, y: top, alt: model.scanToPay })
      const lines = paper.lines(model.scanToPay, SMALL, 100)
      const box = { x: paper.right - QR_SIZE - 108, y: top, width: 100 }
      paper.tagged(paper.root, 'P', () => paper.text(lines, box, SMALL, 'right'))
      paper.y = Math.max(paper.y, top + QR_SIZE)
    }
    paper.y += 10
  }
  if (accounts.length === 0) heading(paper, title, model.accentColor)
  for (const { label, value } of links) {
    const top = paper.y
    pair(paper, label, value, paper.width)
    paper.document.link(paper.left, top, paper.width, paper.y - top, value)
  }
  paper.y += 6
}

function heading(paper: Paper, text: string, color: string): void {
  const style: Style = { ...STRONG, color }
  const lines = paper.lines(text, style, paper.width)
  paper.tagged(paper.root, 'H2', () => {
    paper.y += paper.text(lines, { x: paper.left, y: paper.y, width: paper.width }, style) + 2
  })
}

function pair(paper: Paper, label: string, value: string, room: number): void {
  const labelWidth = 110
  const labels = paper.lines(label, SMALL, labelWidth - 8)
  const values = paper.lines(value, BODY, room - labelWidth)
  paper.tagged(paper.root, 'P', () => {
    paper.text(labels, { x: paper.left, y: paper.y + 1, width: labelWidth }, SMALL)
    paper.text(values, { x: paper.left + labelWidth, y: paper.y, width: room - labelWidth }, BODY)
  })
  paper.y += Math.max(labels.length, values.length) * BODY.size * LINE_HEIGHT
}

export function drawNotes(paper: Paper, { notes }: DocumentModel, nextPage: () => void): void {
  for (const note of notes) {
    const lines = paper.lines(note, SMALL, paper.width)
    if (paper.y + lines.length * SMALL.size * LINE_HEIGHT > paper.bottom) nextPage()
    paper.tagged(paper.root, 'P', () => {
      paper.y += paper.text(lines, { x: paper.left, y: paper.y, width: paper.width }, SMALL) + 4
    })
  }
}
