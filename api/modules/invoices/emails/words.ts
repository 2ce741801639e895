// The sentences of the letter that an invoice is sent with. The other words are those of the document.
import type { Locale } from '../rendering/words/words.ts'

type Sentences = {
  readonly invoice: (number: string, issuer: string) => string
  readonly creditNote: (number: string, issuer: string) => string
}

const SENTENCES: Readonly<Record<Locale['language'], Sentences>> = {
  en: {
    invoice: (number, issuer) => `Please find attached invoice ${number} from ${issuer}.`,
    creditNote: (number, issuer) => `Please find attached credit note ${number} from ${issuer}.`,
  },
  de: {
    invoice: (number, issuer) => `Anbei erhalten Sie die Rechnung ${number} von ${issuer}.`,
    creditNote: (number, issuer) => `Anbei erhalten Sie die Rechnungskorrektur ${number} von ${issuer}.`,
  },
  fr: {
    invoice: (number, issuer) => `Veuillez trouver ci-joint la facture ${number} de ${issuer}.`,
    creditNote: (number, issuer) => `Veuillez trouver ci-joint l’avoir ${number} de ${issuer}.`,
  },
  nl: {
    invoice: (number, issuer) => `Hierbij ontvangt u factuur ${number} van ${issuer}.`,
    creditNote: (number, issuer) => `Hierbij ontvangt u creditnota ${number} van ${issuer}.`,
  },
  es: {
    invoice: (number, issuer) => `Adjuntamos la factura ${number} de ${issuer}.`,
    creditNote: (number, issuer) => `Adjuntamos la factura rectificativa ${number} de ${issuer}.`,
  },
}

export const sentencesOf = ({ language }: Locale): Sentences => SENTENCES[language]
