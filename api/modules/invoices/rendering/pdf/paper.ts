// The pages of a PDF: where the next element is drawn, and its role for screen readers (tagged PDF).
import type { FontBook } from '../fonts/font-book.ts'
import type { ShapedText } from '../text/shape.ts'
import { type TextStyle, wrap } from '../text/wrap.ts'
import type { TextPen } from './embedded-fonts.ts'

export type Element = PDFKit.PDFStructureElement
export type Style = TextStyle & { readonly color: string }
type Align = 'left' | 'right'

export const LINE_HEIGHT = 1.35
/** The distance from the top of a line to its baseline, as a fraction of the font size. */
const BASELINE = 1.05

export type Box = { readonly x: number; readonly y: number; readonly width: number }

export type Paper = {
  readonly document: PDFKit.PDFDocument
  readonly root: Element
  readonly width: number
  readonly left: number
  readonly right: number
  readonly bottom: number
  /** Where the next element starts. */
  y: number
  lines(text: string, style: Style, width: number): ShapedText[]
  /** Draws lines into a box and returns their height. */
  text(lines: readonly ShapedText[], box: Box, style: Style, align?: Align): number
  /** Runs `draw` as the content of a new element of `parent`. */
  tagged(parent: Element, tag: string, draw: () => void): void
  /** Runs `draw` as decoration, which is not read aloud. */
  artifact(draw: () => void): void
  element(parent: Element, tag: string, options?: Readonly<Record<string, unknown>>): Element
  rule(y: number, options?: { readonly color?: string; readonly width?: number; readonly from?: number }): void
}

export type PaperParts = {
  readonly document: PDFKit.PDFDocument
  readonly pen: TextPen
  readonly book: FontBook
  readonly margin: number
  readonly footer: number
}

/** Opens the first page. */
export function openPaper({ document, pen, book, margin, footer }: PaperParts): Paper {
  document.addPage()
  const root = document.struct('Document')
  document.addStructure(root)
  const { width, height } = document.page
  const right = width - margin
  return {
    document,
    root,
    width: right - margin,
    left: margin,
    right,
    bottom: height - footer,
    y: margin,
    lines: (text, style, room) => wrap(text, book, style, room),
    text: (lines, box, style, align = 'left') => {
      const height = style.size * LINE_HEIGHT
      for (const [index, line] of lines.entries()) {
        const size = (line.width * style.size) / 1000
        const x = align === 'right' ? box.x + box.width - size : box.x
        const y = box.y + index * height + style.size * BASELINE
        if (line.runs.length > 0) pen.write(line.runs, { x, y, size: style.size, color: style.color })
      }
      return lines.length * height
    },
    tagged: (parent, tag, draw) => {
      const element = document.struct(tag as never)
      parent.add(element)
      element.add(document.markStructureContent(tag as never))
      draw()
      document.endMarkedContent()
      element.end()
    },
    artifact: draw => {
      document.markContent('Artifact', { type: 'Layout' } as never)
      draw()
      document.endMarkedContent()
    },
    element: (parent, tag, options = {}) => {
      const element = document.struct(tag as never, options as never)
      parent.add(element)
      return element
    },
    rule: (y, { color = '#d4d8dd', width: thickness = 0.5, from = margin } = {}) => {
      document.save().moveTo(from, y).lineTo(right, y).lineWidth(thickness).strokeColor(color).stroke().restore()
    },
  }
}
