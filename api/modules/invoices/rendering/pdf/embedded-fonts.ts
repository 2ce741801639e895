// Embeds the fonts of a document as subsets, and writes shaped text. PDFKit reads a font again for every document and
// shapes each word separately. Here both are done once per process: PDFKit's embedded font gets a parsed font and
// shaped glyphs.
import type { FontkitFont } from '../fonts/font.ts'
import type { Face } from '../fonts/font-book.ts'
import type { Glyph, GlyphRun } from '../text/shape.ts'

/** The members of PDFKit's embedded font that its types lack. */
type EmbeddedFont = {
  readonly id: string
  readonly subset: { includeGlyph(id: number): number }
  readonly widths: number[]
  readonly unicode: (readonly number[])[]
  ref(): PDFKit.PDFKitReference
}
export type EmbeddedFontClass = new (document: PDFKit.PDFDocument, font: FontkitFont, id: string) => EmbeddedFont
type Inside = PDFKit.PDFDocument & {
  _font: { constructor: EmbeddedFontClass } | null
  readonly _fontFamilies: Record<string, EmbeddedFont>
  readonly page: PDFKit.PDFPage & { readonly fonts: Record<string, PDFKit.PDFKitReference>; readonly height: number }
}

export type TextPen = {
  /** Writes runs with their baseline at `y`, from `x` to the right. */
  write(runs: readonly GlyphRun[], at: { x: number; y: number; size: number; color: string }): void
}

/** A pen for `document`. */
export function textPen(document: PDFKit.PDFDocument, embedded: EmbeddedFontClass): TextPen {
  const inside = document as Inside
  const fonts = new Map<string, EmbeddedFont>()
  const fontOf = ({ key, font }: Face): EmbeddedFont => {
    const known = fonts.get(key)
    if (known) return known
    const made = new embedded(document, font, `F${fonts.size + 1}`)
    fonts.set(key, made)
    inside._fontFamilies[key] = made
    return made
  }
  return {
    write: (runs, { x, y, size, color }) => {
      const operators = ['BT']
      let left = x
      for (const { face, glyphs, width } of runs) {
        const font = fontOf(face)
        inside.page.fonts[font.id] ??= font.ref()
        operators.push(
          `/${font.id} ${number(size)} Tf`,
          ...showOperators(font, glyphs, { left, y: flipped(inside, y), size }),
        )
        left += (width * size) / 1000
      }
      operators.push('ET')
      document.save()
      document.fillColor(color)
      // PDFKit measures from the top of the page, PDF from the bottom.
      document.addContent(`1 0 0 -1 0 ${number(inside.page.height)} cm`)
      document.addContent(operators.join('\n'))
      document.restore()
    },
  }
}

const flipped = ({ page }: Inside, y: number): number => page.height - y
const number = (value: number): string => String(Number(value.toFixed(4)))

type Place = { readonly left: number; readonly y: number; readonly size: number }

/** Shows glyphs; those off the baseline, such as vowel marks, are placed one by one. */
function showOperators(font: EmbeddedFont, glyphs: readonly Glyph[], { left, y, size }: Place): string[] {
  const operators: string[] = []
  let text: string[] = []
  let start = 0
  let pen = 0
  const flush = (): void => {
    if (text.length === 0) return
    operators.push(`1 0 0 1 ${number(left + (start * size) / 1000)} ${number(y)} Tm`, `[${text.join(' ')}] TJ`)
    text = []
  }
  for (const glyph of glyphs) {
    const code = hex(include(font, glyph))
    if (glyph.dx !== 0 || glyph.dy !== 0) {
      flush()
      const x = left + ((pen + glyph.dx) * size) / 1000
      operators.push(`1 0 0 1 ${number(x)} ${number(y + (glyph.dy * size) / 1000)} Tm`, `[<${code}>] TJ`)
      start = pen + glyph.advance
    } else {
      if (text.length === 0) start = pen
      const kern = glyph.width - glyph.advance
      text.push(`<${code}>`, ...(Math.abs(kern) < 0.005 ? [] : [number(kern)]))
    }
    pen += glyph.advance
  }
  flush()
  return operators
}

function include(font: EmbeddedFont, glyph: Glyph): number {
  const id = font.subset.includeGlyph(glyph.id)
  font.widths[id] ??= glyph.width
  font.unicode[id] ??= glyph.codePoints
  return id
}

const hex = (id: number): string => id.toString(16).padStart(4, '0')

/** PDFKit's class of embedded fonts, which it does not export. `file` is any font file. */
export function embeddedFontClass(document: PDFKit.PDFDocument, file: Buffer): EmbeddedFontClass {
  const inside = document as Inside
  document.font(file)
  if (inside._font === null) throw new Error('PDFKit opened a font')
  return inside._font.constructor
}
