// The sentences of the letter that an invoice is sent with. The other words are those of the document.
import type { Locale } from '../rendering/words/words.ts'

type Sentences = {
  readonly invoice: (number: string, seller: string) => string
  readonly creditNote: (number: string, seller: string) => string
}

const SENTENCES: Readonly<Record<Locale['language'], Sentences>> = {
  en: {
    invoice: (number, seller) => `Please find attached invoice ${number} from ${seller}.`,
    creditNote: (number, seller) => `Please find attached credit note ${number} from ${seller}.`,
  },
  de: {
    invoice: (number, seller) => `Anbei erhalten Sie die Rechnung ${number} von ${seller}.`,
    creditNote: (number, seller) => `Anbei erhalten Sie die Rechnungskorrektur ${number} von ${seller}.`,
  },
  fr: {
    invoice: (number, seller) => `Veuillez trouver ci-joint la facture ${number} de ${seller}.`,
    creditNote: (number, seller) => `Veuillez trouver ci-joint l’avoir ${number} de ${seller}.`,
  },
  nl: {
    invoice: (number, seller) => `Hierbij ontvangt u factuur ${number} van ${seller}.`,
    creditNote: (number, seller) => `Hierbij ontvangt u creditnota ${number} van ${seller}.`,
  },
  es: {
    invoice: (number, seller) => `Adjuntamos la factura ${number} de ${seller}.`,
    creditNote: (number, seller) => `Adjuntamos la factura rectificativa ${number} de ${seller}.`,
  },
}

export const sentencesOf = ({ language }: Locale): Sentences => SENTENCES[language]
