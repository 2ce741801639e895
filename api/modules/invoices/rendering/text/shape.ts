// From a text to glyphs in visual order. The text is split by direction and by the font that has each character, shaped
// by the rules of its script (Arabic letters join, Hindi marks move), then put into visual order (Unicode Standard
// Annex 9).
import bidiFactory from 'bidi-js'
import type { FontkitFont, FontRun } from '../fonts/font.ts'
import { type Face, type FontBook, REPLACEMENT } from '../fonts/font-book.ts'
import type { Weight } from '../fonts/slices.ts'

/** A glyph with its position, in thousandths of the font size. */
export type Glyph = {
  readonly id: number
  readonly advance: number
  readonly width: number
  readonly dx: number
  readonly dy: number
  readonly codePoints: readonly number[]
}

/** Glyphs of one font, from left to right. */
export type GlyphRun = { readonly face: Face; readonly glyphs: readonly Glyph[]; readonly width: number }
export type ShapedText = { readonly runs: readonly GlyphRun[]; readonly width: number; readonly text: string }

const bidi = bidiFactory()
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** The characters of a text from left to right, each on its own. */
const SIMPLE = /^[\u0020-\u007e\u00a0-\u02af\u1e00-\u1eff\u2010-\u2027\u202f\u20a0-\u20bf\u2212]*$/

type Piece = { readonly text: string; readonly level: number; readonly face: Face | null }

/** Shapes one line of text. A character that no font has is shown as a replacement character. */
export function shape(text: string, book: FontBook, weight: Weight): ShapedText {
  const pieces = SIMPLE.test(text) ? simplePieces(text, book, weight) : piecesOf(text, book, weight)
  const runs = visual(pieces).flatMap(({ text: part, level, face }) =>
    face ? [glyphsOf(face, part, level % 2 === 1)] : [],
  )
  return { runs, width: runs.reduce((sum, run) => sum + run.width, 0), text }
}

const simplePieces = (text: string, book: FontBook, weight: Weight): Piece[] =>
  joined(
    [...text].map(character => ({ text: character, level: 0 })),
    book,
    weight,
  )

function piecesOf(text: string, book: FontBook, weight: Weight): Piece[] {
  const { levels } = bidi.getEmbeddingLevels(text)
  const clusters = [...graphemes.segment(text)].map(({ segment, index }) => {
    const level = levels[index] ?? 0
    return { text: level % 2 === 1 ? mirrored(segment) : segment, level }
  })
  return joined(clusters, book, weight)
}

const mirrored = (cluster: string): string =>
  [...cluster].map(character => bidi.getMirroredCharacter(character) ?? character).join('')

/**
 * Joins neighbours of one direction and one font. A cluster that no font has as a whole is tried character by
 * character.
 */
function joined(clusters: readonly { text: string; level: number }[], book: FontBook, weight: Weight): Piece[] {
  const pieces: Piece[] = []
  const add = (text: string, level: number, face: Face | null): void => {
    const last = pieces.at(-1)
    if (last && last.level === level && last.face?.key === face?.key) {
      pieces[pieces.length - 1] = { ...last, text: last.text + text }
    } else pieces.push({ text, level, face })
  }
  for (const { text, level } of clusters) {
    const last = pieces.at(-1)
    // A space uses the font of the word before it, if that font has a space.
    if (text === ' ' && last?.face && last.level === level && last.face.font.hasGlyphForCodePoint(0x20)) {
      add(text, level, last.face)
      continue
    }
    const whole = book.faceFor(text, weight)
    if (whole) add(text, level, whole)
    else {
      for (const character of text) {
        const face = book.faceFor(character, weight)
        if (face) add(character, level, face)
        else if (!/[\p{Cf}\p{M}]/u.test(character)) add(REPLACEMENT, level, book.faceFor(REPLACEMENT, weight))
      }
    }
  }
  return pieces
}

/** Rule L2: from the highest level down to the lowest odd one, every sequence at that level or above is reversed. */
function visual(pieces: readonly Piece[]): readonly Piece[] {
  const highest = Math.max(0, ...pieces.map(({ level }) => level))
  if (highest === 0) return pieces
  const ordered = [...pieces]
  for (let level = highest; level >= 1; level--) {
    for (let start = 0; start < ordered.length; start++) {
      if ((ordered[start]?.level ?? 0) < level) continue
      let end = start
      while (end < ordered.length && (ordered[end]?.level ?? 0) >= level) end++
      ordered.splice(start, end - start, ...ordered.slice(start, end).reverse())
      start = end
    }
  }
  return ordered
}

/** Places marks at their letters: without these, a mark stands where its letter ends. */
const WITHOUT_MARKS = { mark: false, mkmk: false } as const

/**
 * fontkit throws a TypeError where a font has no place for a mark at a letter, such as the dots of U+0760: the format allows that, and
 * such a mark is left where it is.
 */
function laidOut(font: FontkitFont, text: string, direction: 'rtl' | 'ltr'): FontRun {
  try {
    return font.layout(text, [], undefined, undefined, direction)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return font.layout(text, WITHOUT_MARKS, undefined, undefined, direction)
  }
}

const shaped = new Map<string, GlyphRun>()
const SHAPED_MAX = 20_000

/** The glyphs of a piece, cached: the words of a document repeat in the next. */
function glyphsOf(face: Face, text: string, rightToLeft: boolean): GlyphRun {
  const key = `${face.key}|${rightToLeft ? 'r' : 'l'}|${text}`
  const known = shaped.get(key)
  if (known) return known
  if (shaped.size >= SHAPED_MAX) shaped.clear()
  const scale = 1000 / face.font.unitsPerEm
  const { glyphs, positions } = laidOut(face.font, text, rightToLeft ? 'rtl' : 'ltr')
  const placed = glyphs.map((glyph, index): Glyph => {
    const position = positions[index]
    return {
      id: glyph.id,
      advance: (position?.xAdvance ?? glyph.advanceWidth) * scale,
      width: glyph.advanceWidth * scale,
      dx: (position?.xOffset ?? 0) * scale,
      dy: (position?.yOffset ?? 0) * scale,
      codePoints: glyph.codePoints,
    }
  })
  const run = { face, glyphs: placed, width: placed.reduce((sum, { advance }) => sum + advance, 0) }
  shaped.set(key, run)
  return run
}
