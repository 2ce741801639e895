// Whether a text can be an IBAN (ISO 13616).
const FORM = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/

/** Without spaces, in capitals. */
export const compactIban = (text: string): string => text.replace(/\s+/g, '').toUpperCase()

/** Whether a compact IBAN has the form of one and its check digits are right (modulo 97 is 1). */
export function isIban(iban: string): boolean {
  if (!FORM.test(iban)) return false
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, letter => String(letter.charCodeAt(0) - 55))
  return BigInt(digits) % 97n === 1n
}
