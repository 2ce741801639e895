// The pages on which a signed-in user sees and changes their second factors.
import { type Html, html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'
import { type Factors, hasSecondFactor } from './factors.ts'
import { PASSKEYS_MAX, type Passkey } from './passkeys.ts'
import { passkeyForm } from './proof-form.ts'
import { qrCode } from './qr.ts'

const csrfField = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}">`
const BACK = html`<p class="foot"><a href="/second-factor">Back to your second factor</a></p>`

/** What there is, and what can be done about it. */
export const factorsPage = (view: {
  readonly csrf: string
  readonly factors: Factors
  /** False where browsers make none, as at an address that is a number. */
  readonly passkeysPossible: boolean
}): string =>
  page(
    'Second factor',
    html`<h1>Second factor</h1>
<p>With a second factor, your password alone is not enough to sign in.</p>
${
  hasSecondFactor(view.factors)
    ? html`<p class="note">On. You need it each time you sign in.</p>`
    : html`<p class="caution">Off. Your password alone opens your account.</p>`
}
${authenticatorSection(view.csrf, view.factors)}
${passkeysSection(view)}
${hasSecondFactor(view.factors) ? recoverySection(view.csrf, view.factors) : null}
<p class="foot"><a href="/">Back to your account</a></p>`,
  )

const authenticatorSection = (csrf: string, { authenticator }: Factors): Html => html`<section>
<h2>Authenticator app</h2>
${
  authenticator
    ? html`<p>In use.</p>
<form method="post" action="/second-factor/authenticator/remove">${csrfField(csrf)}
<button class="second">Remove the authenticator app</button>
</form>`
    : html`<p>An app on your phone shows a new code every 30 seconds.</p>
<form method="post" action="/second-factor/authenticator">${csrfField(csrf)}
<button>Set up an authenticator app</button>
</form>`
}
</section>`

const passkeysSection = (view: Parameters<typeof factorsPage>[0]): Html => html`<section>
<h2>Passkeys</h2>
<p>Your finger, your face, the PIN of your device, or a security key.</p>
${view.factors.passkeys.map(passkey => passkeyEntry(view.csrf, passkey))}
${addPasskeyWay(view)}
</section>`

const passkeyEntry = (
  csrf: string,
  passkey: Passkey,
): Html => html`<form class="entry" method="post" action="/second-factor/passkeys/remove">
${csrfField(csrf)}
<input type="hidden" name="passkey_id" value="${passkey.id}">
<p><strong>${passkey.name}</strong><br>Added on ${passkey.addedOn}, ${passkey.lastUsedOn === null ? 'not used yet' : `last used on ${passkey.lastUsedOn}`}.</p>
<button class="second">Remove ${passkey.name}</button>
</form>`

function addPasskeyWay({ factors, passkeysPossible }: Parameters<typeof factorsPage>[0]): Html {
  if (!passkeysPossible)
    return html`<p class="note">Not possible at this address: browsers make passkeys for a name with TLS, or for localhost.</p>`
  if (factors.passkeys.length >= PASSKEYS_MAX)
    return html`<p class="note">You have ${PASSKEYS_MAX}, which is the most.</p>`
  return html`<p><a class="button" href="/second-factor/passkeys/new">Add a passkey</a></p>`
}

const recoverySection = (csrf: string, { recoveryCodesLeft }: Factors): Html => html`<section>
<h2>Recovery codes</h2>
<p class="${recoveryCodesLeft < 3 ? 'caution' : 'plain'}">${recoveryCodesLeft} left. Each opens your account once when nothing else is at hand.</p>
<form method="post" action="/second-factor/recovery-codes">${csrfField(csrf)}
<button class="second">Make new recovery codes</button>
</form>
</section>`

/** The secret of a new authenticator, as a picture and in letters, and the field for its first code. */
export const authenticatorPage = (view: {
  readonly csrf: string
  readonly secret: string
  readonly uri: string
  readonly fault?: string
}): string =>
  page(
    'Set up an authenticator app',
    html`<h1>Set up an authenticator app</h1>
${view.fault === undefined ? null : alert(view.fault)}
<p>Scan this with the app, or type the key into it.</p>
${qrCode(view.uri, 'QR code for the authenticator app; the key below says the same')}
<p>Key: <code class="key">${view.secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
<form class="wide" method="post" action="/second-factor/authenticator/confirm">${csrfField(view.csrf)}
<label for="code">Code that the app shows now</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="11" required>
<button>Turn on</button>
</form>
${BACK}`,
  )

/** A name for the new passkey, and the browser's own question behind the button. */
export const newPasskeyPage = (view: {
  readonly csrf: string
  readonly options: object
  readonly fault?: string
}): string =>
  page(
    'Add a passkey',
    html`<h1>Add a passkey</h1>
${view.fault === undefined ? null : alert(view.fault)}
${passkeyForm({
  action: '/second-factor/passkeys',
  hidden: csrfField(view.csrf),
  options: view.options,
  doing: 'create',
  button: html`<label for="name">What you call it</label>
<input id="name" name="name" type="text" maxlength="60" required value="My passkey">
<button>Add the passkey</button>`,
})}
${BACK}`,
    { script: true },
  )

/** The codes, this once. */
export const recoveryCodesPage = (codes: readonly string[]): string =>
  page(
    'Recovery codes',
    html`<h1>Recovery codes</h1>
<p>Write these down or print them, and keep them where you keep keys. Each opens your account once when nothing else is at hand.</p>
<p class="caution">They are shown this once. Codes from before no longer work.</p>
<ol class="codes">${codes.map(code => html`<li><code>${code}</code></li>`)}</ol>
<p><a class="button" href="/second-factor">I have them</a></p>`,
  )
