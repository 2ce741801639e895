// Breaks a text into lines that fit a width: where its script allows (Unicode Standard Annex 14, Thai at its words),
// and inside a word only when the word alone is wider.
import LineBreaker from 'linebreak'
import type { FontBook } from '../fonts/font-book.ts'
import type { Weight } from '../fonts/slices.ts'
import { type ShapedText, shape } from './shape.ts'

export type TextStyle = { readonly size: number; readonly weight: Weight }

const THAI = /\p{Script=Thai}/u
const words = new Intl.Segmenter('th', { granularity: 'word' })
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** The lines of a text, each shaped; one empty line for an empty text. `width` is in points. */
export function wrap(text: string, book: FontBook, { size, weight }: TextStyle, width: number): ShapedText[] {
  const limit = (width * 1000) / size
  const whole = shape(text, book, weight)
  if (whole.width <= limit) return [whole]
  const measure = (part: string): number => shape(part.trimEnd(), book, weight).width
  const lines: string[] = []
  let line = ''
  for (const word of wordsOf(text)) {
    if (line !== '' && measure(line + word) > limit) {
      lines.push(line)
      line = ''
    }
    if (measure(line + word) <= limit) line += word
    else {
      for (const { segment } of graphemes.segment(word)) {
        if (line !== '' && measure(line + segment) > limit) {
          lines.push(line)
          line = ''
        }
        line += segment
      }
    }
  }
  if (line.trim() !== '') lines.push(line)
  return lines.map(part => shape(part.trim(), book, weight))
}

/** The text split at every place where a line may end. */
function wordsOf(text: string): string[] {
  const cuts = new Set<number>()
  const breaker = new LineBreaker(text)
  for (let next = breaker.nextBreak(); next; next = breaker.nextBreak()) cuts.add(next.position)
  if (THAI.test(text)) {
    for (const { index, segment } of words.segment(text)) if (THAI.test(segment) && index > 0) cuts.add(index)
  }
  const places = [...cuts].filter(place => place > 0 && place < text.length).toSorted((a, b) => a - b)
  return [0, ...places].map((start, index) => text.slice(start, places[index] ?? text.length))
}
