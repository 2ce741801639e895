// A font as layout and PDF use it: parsed by fontkit, once per process.
import { readFile } from 'node:fs/promises'
import { encodeOutline, type OutlineCommand } from './encode-outline.ts'
import type { Slice } from './slices.ts'

export type FontGlyph = { readonly id: number; readonly advanceWidth: number; readonly codePoints: readonly number[] }
type Position = { readonly xAdvance: number; readonly xOffset: number; readonly yOffset: number }
export type FontRun = { readonly glyphs: readonly FontGlyph[]; readonly positions: readonly Position[] }

type Subset = {
  includeGlyph(id: number): number
  glyphEncoder: { encodeSimple(path: { commands: readonly OutlineCommand[] }, instructions: readonly number[]): Buffer }
}

/** The part of fontkit that is used; it has no types. */
export type FontkitFont = {
  readonly unitsPerEm: number
  readonly ascent: number
  readonly descent: number
  hasGlyphForCodePoint(codePoint: number): boolean
  layout(
    text: string,
    features: readonly string[] | Readonly<Record<string, boolean>>,
    script?: string,
    language?: string,
    direction?: string,
  ): FontRun
  createSubset(): Subset
  getVariation(settings: { readonly wght: number }): FontkitFont
}

const fonts = new Map<string, Promise<FontkitFont>>()

/** The font of a slice, read and unpacked on first use. */
export function fontOf(slice: Slice): Promise<FontkitFont> {
  const known = fonts.get(slice.key)
  if (known) return known
  const font = read(slice)
  fonts.set(slice.key, font)
  // A failed read is tried again by the next document.
  font.catch(() => fonts.delete(slice.key))
  return font
}

/** The file of a slice, unpacked. */
export async function unpack({ path }: Slice): Promise<Buffer> {
  const [{ default: decompress }, file] = await Promise.all([import('woff2-encoder/decompress'), readFile(path)])
  return Buffer.from(await decompress(file))
}

async function read(slice: Slice): Promise<FontkitFont> {
  const [{ create }, file] = await Promise.all([import('fontkit'), unpack(slice)])
  const font = create(file) as FontkitFont
  const { weight } = slice
  if (weight === null) return font
  const varied = font.getVariation({ wght: weight })
  const createSubset = varied.createSubset.bind(varied)
  // fontkit cannot encode the outlines of a variable font: its encoder calls its stream library through an older
  // interface.
  varied.createSubset = () => {
    const subset = createSubset()
    subset.glyphEncoder = { encodeSimple: ({ commands }) => encodeOutline(commands) }
    return subset
  }
  return varied
}
