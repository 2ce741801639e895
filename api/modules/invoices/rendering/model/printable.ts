// Makes text from a tenant safe to lay out.
const TEXT_LENGTH_MAX = 400

/**
 * On one line, with limited length and without control or invisible characters (which could reverse or hide what is
 * read). The joiners stay, because Hindi and Persian need them.
 */
export function printable(text: string): string {
  const clean = text
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu, '')
    .trim()
  const characters = [...clean]
  return characters.length > TEXT_LENGTH_MAX ? `${characters.slice(0, TEXT_LENGTH_MAX).join('')}…` : clean
}
