// Types for the used parts of packages that have none.
declare module 'fontkit' {
  export function create(file: Uint8Array): unknown
}

declare module 'linebreak' {
  type Break = { readonly position: number; readonly required: boolean }
  /** The places where a line may end (Unicode Standard Annex 14). */
  export default class LineBreaker {
    constructor(text: string)
    nextBreak(): Break | null
  }
}

declare module 'bidi-js' {
  export type EmbeddingLevels = {
    readonly levels: Uint8Array
    readonly paragraphs: readonly { readonly start: number; readonly end: number; readonly level: number }[]
  }
  type Bidi = {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl'): EmbeddingLevels
    getMirroredCharacter(character: string): string | null
  }
  /** The Unicode bidirectional algorithm (Unicode Standard Annex 9). */
  export default function bidiFactory(): Bidi
}
