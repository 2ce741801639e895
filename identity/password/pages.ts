// What a person sees who sets, changes or forgot a password.
import { html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'

/** Where a reset mail is requested. */
export const forgotPasswordPage = (input: { readonly csrf: string; readonly fault?: string }): string =>
  page(
    'New password',
    html`<h1>New password</h1>
${input.fault === undefined ? null : alert(input.fault)}
<p>Enter your e-mail address, and we will send you a link to choose a new password.</p>
<form class="wide" method="post" action="/forgot-password">
<input type="hidden" name="csrf" value="${input.csrf}">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="320">
<button>Send the link</button>
</form>
<p class="foot"><a href="/sign-in">Back to sign-in</a></p>`,
  )

/** The answer to every such request, the same for every e-mail. */
export const MAIL_SENT_PAGE = page(
  'Check your e-mail',
  html`<h1>Check your e-mail</h1>
<p>If there is an account for that e-mail address, we have sent it a link. The link works once, for a short time.
Nothing there after a few minutes? Check your spam folder, then ask again.</p>
<p class="foot"><a href="/sign-in">Back to sign-in</a></p>`,
)

/** The answer to a link that does not work, whatever the reason. */
export const NO_LINK_PAGE = page(
  'Not possible',
  html`<h1>This link does not work</h1>
<p>It may be too old, used already, or withdrawn. You can <a href="/forgot-password">ask for a new one</a>.</p>`,
)

/** Said when a limit is reached, on a page of its own. */
export const tooManyRequestsPage = (wait: number): string =>
  page(
    'Too many tries',
    html`<h1>Too many tries</h1>
${alert(`Wait ${Math.ceil(wait / 60)} minutes, then try again.`)}`,
  )

export type ChoosePasswordTexts = {
  readonly title: string
  readonly lead: string
  readonly action: string
  readonly button: string
}

const PASSWORD_FIELDS = html`<label for="new_password">New password</label>
<input id="new_password" name="new_password" type="password" autocomplete="new-password" required aria-describedby="password-help">
<p class="hint" id="password-help">At least 15 characters, or 8 if you use a second factor. A few words in a row are easy to remember.</p>
<label for="repeated">Repeat the new password</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required>`

/** The form behind a link. `username` helps password managers store what is chosen. */
export const choosePasswordPage = (input: {
  readonly csrf: string
  readonly token: string
  readonly username: string
  readonly texts: ChoosePasswordTexts
  readonly fault?: string
}): string =>
  page(
    input.texts.title,
    html`<h1>${input.texts.title}</h1>
${input.fault === undefined ? null : alert(input.fault)}
<p>${input.texts.lead}</p>
<form class="wide" method="post" action="${input.texts.action}">
<input type="hidden" name="csrf" value="${input.csrf}">
<input type="hidden" name="token" value="${input.token}">
<label for="username">E-mail</label>
<input id="username" type="email" autocomplete="username" readonly value="${input.username}">
${PASSWORD_FIELDS}
<button>${input.texts.button}</button>
</form>`,
  )

/** Where a form behind a link ends. */
export const PASSWORD_SET_PAGE = page(
  'Your password is set',
  html`<h1>Your password is set</h1>
<p>Every other session was signed out, and every application was disconnected.
<a href="/sign-in">Sign in</a> with the new password.</p>`,
)

/** The form of a signed-in user. */
export const changePage = (input: {
  readonly csrf: string
  readonly username: string
  readonly fault?: string
  readonly done?: boolean
}): string =>
  page(
    'Change your password',
    html`<h1>Change your password</h1>
${input.fault === undefined ? null : alert(input.fault)}
${input.done === true && html`<p class="note" role="status">Your password is changed, and every other session is signed out.</p>`}
<form class="wide" method="post" action="/password">
<input type="hidden" name="csrf" value="${input.csrf}">
<label for="username">E-mail</label>
<input id="username" type="email" autocomplete="username" readonly value="${input.username}">
<label for="password">Current password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
${PASSWORD_FIELDS}
<label class="choice"><input type="checkbox" name="apps" value="all" checked> Also disconnect every application</label>
<button>Change password</button>
</form>
<p class="foot"><a href="/">Back to your account</a></p>`,
  )
