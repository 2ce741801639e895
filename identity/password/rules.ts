// Which passwords are taken (NIST SP 800-63B-4): long ones, longer where nothing else protects the account, none that guessing
// programs try first, and no rules about which characters are in them.
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import { PASSWORD_BYTES_MAX, passwordText } from '../../shared/access/password.ts'

/** Characters, alone and with a second factor. */
const LENGTH_MIN = { alone: 15, withSecondFactor: 8 } as const
/** Guesses a program needs that knows how people choose, as a power of ten. */
const GUESSES_MIN = { alone: 10, withSecondFactor: 6 } as const
/** What is looked at: estimating takes longer the longer the text, and the start of a bad password is bad. */
const LOOKED_AT = 40

/** Made when it is first needed: it reads a dictionary. */
let estimator: ZxcvbnFactory | null = null

/** What is wrong with a password for this user, in words that say what to do; null when it is taken. */
export function passwordFault(
  password: string,
  user: { readonly username: string; readonly secondFactor: boolean },
): string | null {
  const protection = user.secondFactor ? 'withSecondFactor' : 'alone'
  const text = passwordText(password)
  if ([...text].length < LENGTH_MIN[protection]) {
    return `Use at least ${LENGTH_MIN[protection]} characters. A few words in a row are easy to remember.`
  }
  if (Buffer.byteLength(text) > PASSWORD_BYTES_MAX) return `Use at most ${PASSWORD_BYTES_MAX} bytes.`
  estimator ??= new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: LOOKED_AT,
    l33tMaxSubstitutions: 10,
  })
  const known = ['millrace', user.username, ...user.username.split(/[^\p{L}\p{N}]+/u)].filter(word => word !== '')
  const { guessesLog10 } = estimator.check(text, known)
  return guessesLog10 < GUESSES_MIN[protection]
    ? 'This one is easy to guess: it is common, repeats itself, or contains your e-mail. Choose another.'
    : null
}
