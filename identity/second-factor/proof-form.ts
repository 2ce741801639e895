// The forms that ask for a second factor, wherever it is asked, and what they bring back.
import Type from 'typebox'
import { type Html, html } from '../pages/html.ts'
import type { Proof, SecondFactorPrompt } from './factors.ts'

/** The fields of a proof; a form sends one of them. */
export const ProofFields = {
  code: Type.Optional(Type.String({ maxLength: 64 })),
  recovery: Type.Optional(Type.String({ maxLength: 64 })),
  passkey: Type.Optional(Type.String({ maxLength: 12_000 })),
}

const KINDS = ['code', 'recovery', 'passkey'] as const

/** The proof a form brought, or null when all its fields are empty. */
export function proofIn(body: { readonly [kind in Proof['kind']]?: string }): Proof | null {
  const kind = KINDS.find(each => (body[each] ?? '').trim() !== '')
  return kind === undefined ? null : { kind, text: body[kind] ?? '' }
}

/** A form for each factor the user has. `hidden` goes with each of them. */
export function proofForms(action: string, hidden: Html, { factors, passkeyOptions }: SecondFactorPrompt): Html {
  return html`${passkeyOptions === null ? null : passkeyForm({ action, hidden, options: passkeyOptions, doing: 'get', button: html`<button>Use a passkey</button>` })}
${
  factors.authenticator
    ? html`<form class="wide" method="post" action="${action}">${hidden}
<label for="code">Code from your authenticator app</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="11" required${passkeyOptions === null ? html` autofocus` : null}>
<button>Continue</button>
</form>`
    : null
}
<details><summary>Use a recovery code</summary>
<form class="wide" method="post" action="${action}">${hidden}
<label for="recovery">Recovery code</label>
<input id="recovery" name="recovery" type="text" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="64" required>
<p class="hint">Each works once.</p>
<button class="second">Continue</button>
</form>
</details>`
}

/** A form that the script fills with what the browser's passkey says. */
export const passkeyForm = (form: {
  readonly action: string
  readonly hidden: Html
  readonly options: object
  readonly doing: 'get' | 'create'
  readonly button: Html
}): Html => html`<form class="wide" method="post" action="${form.action}" data-passkey="${form.doing}" data-options="${JSON.stringify(form.options)}">${form.hidden}
<input type="hidden" name="passkey" value="">
<noscript><p class="note">Passkeys need JavaScript, which is off in this browser.</p></noscript>
<p class="alert" role="alert" hidden>No passkey was given. Try again, or use another way.</p>
${form.button}
</form>`
