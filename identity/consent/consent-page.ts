// The consent screen: who asks, where the answer goes, what it may do, and on which platforms. Every word of it comes from
// what is stored, never from the address of the page.
import type { Membership } from '../../shared/access/memberships.ts'
import { recognise } from '../checks/client-name.ts'
import { isLoopback } from '../checks/redirect-uri.ts'
import { type Html, html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'
import { choiceOf } from '../store/grants.ts'
import type { AuthorizationRequest } from '../store/requests.ts'

export type ConsentView = {
  readonly request: AuthorizationRequest
  readonly username: string
  readonly memberships: readonly Membership[]
  readonly csrf: string
  readonly fault?: string
}

/** The page. */
export function consentPage({ request, username, memberships, csrf, fault }: ConsentView): string {
  return page(
    'Allow access',
    html`<h1>Allow access?</h1>
${fault === undefined ? null : alert(fault)}
${whoAsks(request)}
<p>You are signed in as <strong>${username}</strong>.</p>
<h2>What it may do</h2>
<ul>${request.scopes.map(scope => html`<li>${SCOPE_WORDS[scope]} <code>${scope}</code></li>`)}</ul>
<form method="post" action="/consent">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="request" value="${request.id}">
${picker(memberships)}
<div class="actions">
<button name="decision" value="approve">Approve</button>
<button name="decision" value="deny" formnovalidate>Deny</button>
</div>
</form>`,
  )
}

const SCOPE_WORDS = {
  'service:read': 'Read what you can read',
  'service:write': 'Create and change what you can create and change',
} as const

function whoAsks(request: AuthorizationRequest): Html {
  const recognition = recognise(request.clientName)
  return html`<div class="asker">${recognition.kind === 'known' ? html`<img src="/assets/clients/${recognition.client.initial}.svg" alt="" width="48" height="48">` : null}
<p><strong>${request.clientName}</strong> (name not verified) asks for access to your account.</p></div>
${
  recognition.kind === 'known'
    ? html`<p class="caution">This calls itself ${recognition.client.name}, a known AI client. Anybody can choose that name: approve only if
you started this yourself, in that application, a moment ago.</p>`
    : null
}
${
  recognition.kind === 'lookalike'
    ? html`<p class="caution"><strong>Warning:</strong> this name is written to look like ${recognition.client.name} and is not. Deny it unless you
know exactly who sent you here.</p>`
    : null
}
<p>The answer goes to <code>${hostOf(request.redirectUri)}</code>.</p>
${
  request.clientRedirectUris.every(isLoopback)
    ? html`<p class="caution">It runs on this computer. Any program on this computer can pretend to be it.</p>`
    : null
}`
}

/** Where the answer goes, in full: the host with its port, or the scheme of an application's own address. */
function hostOf(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.host === '' ? url.protocol : `${url.protocol}//${url.host}`
}

function picker(memberships: readonly Membership[]): Html {
  if (memberships.length === 0)
    return html`<p class="alert">You are not a member of any platform, so there is nothing to share.</p>`
  const only = memberships.length === 1
  return html`<fieldset>
<legend>Platforms it may reach</legend>
${memberships.map(
  each => html`<label class="choice"><input type="checkbox" name="platforms" value="${choiceOf(each)}"${only ? html` checked` : null}>
<span>${each.platformName} – ${each.environment}</span></label>`,
)}
</fieldset>`
}
