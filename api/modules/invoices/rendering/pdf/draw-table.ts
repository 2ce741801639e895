// A table of texts over as many pages as it needs: its head is repeated on each, and a row is never split.
import { type Element, LINE_HEIGHT, type Paper, type Style } from './paper.ts'

export type Column = { readonly width: number; readonly align: 'left' | 'right' }
/** A cell is a sequence of texts, each with its style. */
export type Cell = readonly { readonly text: string; readonly style: Style }[]
export type TableRow = {
  readonly cells: readonly Cell[]
  /** A rule above the row. */
  readonly rule: boolean
  readonly indent?: number
  /** Is not left alone at the bottom of a page. */
  readonly keepWithNext?: boolean
}

export type TableParts = {
  readonly columns: readonly Column[]
  readonly head: TableRow | null
  readonly rows: readonly TableRow[]
  /** Opens the next page. */
  readonly nextPage: () => void
}

const PADDING = 2.5
const GAP = 8

type Measured = { readonly row: TableRow; readonly lines: readonly Paragraph[][]; readonly height: number }
type Paragraph = { readonly style: Style; readonly lines: ReturnType<Paper['lines']> }

export function drawTable(paper: Paper, { columns, head, rows, nextPage }: TableParts): void {
  const table = paper.element(paper.root, 'Table')
  const top = head === null ? null : measure(paper, columns, head)
  const body = rows.map(row => measure(paper, columns, row))
  const opening = [top, ...body.slice(0, 2)].reduce((sum, row) => sum + (row?.height ?? 0), 0)
  if (top && paper.y + opening > paper.bottom) nextPage()
  if (top) drawRow(paper, columns, top, { table, tag: 'TH' })
  for (const [index, row] of body.entries()) {
    const after = row.row.keepWithNext ? (body[index + 1]?.height ?? 0) : 0
    if (paper.y + row.height + after > paper.bottom) {
      nextPage()
      // Read aloud once: on later pages the head is decoration.
      if (top) paper.artifact(() => drawRow(paper, columns, top, null))
    }
    drawRow(paper, columns, row, { table, tag: 'TD' })
  }
  table.end()
}

function measure(paper: Paper, columns: readonly Column[], row: TableRow): Measured {
  const lines = row.cells.map((cell, index) =>
    cell.map(({ text, style }) => {
      const room = roomOf(columns, row, index)
      const inText = { style, lines: paper.lines(text, style, room) }
      return columns[index]?.align === 'right' && inText.lines.length > 1
        ? figure(paper, { text, style }, room)
        : inText
    }),
  )
  const heights = lines.map(paragraphs =>
    paragraphs.reduce((sum, { style, lines: own }) => sum + own.length * style.size * LINE_HEIGHT, 0),
  )
  return { row, lines, height: Math.max(...heights) + 2 * PADDING }
}

/** A figure is set smaller, down to this part of its size, before it breaks. */
const SHRINK_MIN = 0.7
const ANY_WIDTH = 100_000

/** A figure on one line where that is possible. */
function figure(paper: Paper, { text, style }: Cell[number], room: number): Paragraph {
  const [line] = paper.lines(text, style, ANY_WIDTH)
  const scale = line ? (room * 1000) / (line.width * style.size) : 0
  // A hundredth of a point less, so that rounding does not break it all the same.
  const size = scale >= 1 || scale < SHRINK_MIN ? style.size : style.size * scale - 0.01
  const fitting = { ...style, size }
  return { style: fitting, lines: paper.lines(text, fitting, room) }
}

/** A row of one cell takes the whole width. */
function roomOf(columns: readonly Column[], row: TableRow, index: number): number {
  const indent = index === 0 ? (row.indent ?? 0) : 0
  if (row.cells.length === 1) return columns.reduce((sum, { width }) => sum + width, 0) - indent
  return (columns[index]?.width ?? 0) - indent - (index === 0 ? 0 : GAP)
}

type Tags = { readonly table: Element; readonly tag: 'TH' | 'TD' } | null

function drawRow(paper: Paper, columns: readonly Column[], { row, lines, height }: Measured, tags: Tags): void {
  if (row.rule) {
    if (tags === null) paper.rule(paper.y)
    else paper.artifact(() => paper.rule(paper.y))
  }
  const element = tags === null ? null : paper.element(tags.table, 'TR')
  let x = paper.left
  for (const [index, paragraphs] of lines.entries()) {
    const room = roomOf(columns, row, index)
    const column = columns[index]
    const align = column?.align ?? 'left'
    const left = index === 0 ? x + (row.indent ?? 0) : x + GAP
    const draw = (): void => {
      let y = paper.y + PADDING
      for (const { style, lines: own } of paragraphs) y += paper.text(own, { x: left, y, width: room }, style, align)
    }
    if (element === null || tags === null) draw()
    else paper.tagged(element, tags.tag, draw)
    x += column?.width ?? 0
  }
  element?.end()
  paper.y += height
}
