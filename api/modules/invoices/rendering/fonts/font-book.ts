// The fonts of one document: every slice that its characters need, chosen character by character.
import { type FontkitFont, fontOf } from './font.ts'
import { handOf, type Slice, slicesFor, type Weight } from './slices.ts'

/** A font with the name that identifies its runs. */
export type Face = { readonly key: string; readonly font: FontkitFont }

export type FontBook = {
  /** The font that has all of a cluster (a letter with its marks), or undefined. */
  faceFor(cluster: string, weight: Weight): Face | null
}

const WEIGHTS: readonly Weight[] = [400, 700]
/** Replaces a character that no font has. */
export const REPLACEMENT = '\ufffd'

/** Reads the fonts for every character of `text`, in both weights. */
export async function fontBookFor(text: string): Promise<FontBook> {
  const han = handOf(text)
  const slices = new Map<string, Slice>()
  const candidates = new Map<string, readonly Slice[]>()
  for (const character of new Set([...text, REPLACEMENT, ' '])) {
    const codePoint = character.codePointAt(0) ?? 0
    for (const weight of WEIGHTS) {
      const found = slicesFor(codePoint, weight, han)
      candidates.set(`${weight} ${codePoint}`, found)
      for (const slice of found) slices.set(slice.key, slice)
    }
  }
  const faces = new Map<string, Face>(
    await Promise.all(
      [...slices.values()].map(async slice => [slice.key, { key: slice.key, font: await fontOf(slice) }] as const),
    ),
  )
  const facesOf = (character: string, weight: Weight): Face[] => {
    const codePoint = character.codePointAt(0) ?? 0
    return (candidates.get(`${weight} ${codePoint}`) ?? []).flatMap(({ key }) => {
      const face = faces.get(key)
      return face?.font.hasGlyphForCodePoint(codePoint) ? [face] : []
    })
  }
  const find = (cluster: string, weight: Weight): Face | null => {
    const [base = '', ...marks] = cluster
    const able = facesOf(base, weight)
    const has = ({ font }: Face, character: string) => font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)
    return able.find(face => marks.every(mark => has(face, mark))) ?? null
  }
  const chosen = new Map<string, Face | null>()
  return {
    faceFor: (cluster, weight) => {
      const key = `${weight} ${cluster}`
      const known = chosen.get(key)
      if (known !== undefined) return known
      const face = find(cluster, weight)
      chosen.set(key, face)
      return face
    },
  }
}
