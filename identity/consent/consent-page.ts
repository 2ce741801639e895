// The consent screen: who asks, where the answer goes, what it may do, and on which platforms. Every word of it comes from
// what is stored, never from the address of the page.
import type { Membership } from '../../shared/access/memberships.ts'
import { matchKnownClient } from '../checks/client-name.ts'
import { isLoopback } from '../checks/redirect-uri.ts'
import { hostOfClient } from '../client-documents/client-id-url.ts'
import { type Html, html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'
import { platformChoice } from '../store/grants.ts'
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
<form method="post" action="/consent">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="request" value="${request.id}">
${access(request)}
${picker(memberships)}
<div class="actions">
<button name="decision" value="approve">Approve</button>
<button class="second" name="decision" value="deny" formnovalidate>Deny</button>
</div>
</form>`,
  )
}

/** What was requested, and the way to give less: reading alone where writing was requested. */
function access({ scopes }: AuthorizationRequest): Html {
  if (!scopes.includes('service:write'))
    return html`<h2>What it may do</h2>
<ul><li>Read what you can read <code>service:read</code></li></ul>`
  return html`<fieldset>
<legend>What it may do</legend>
<label class="choice"><input type="radio" name="access" value="write" checked>
<span>Read, create and change what you can <code>service:read service:write</code>. It never manages keys, users, roles or teams.</span></label>
<label class="choice"><input type="radio" name="access" value="${READ_ONLY}">
<span>Only read what you can read <code>service:read</code></span></label>
</fieldset>`
}

/** The value of the field `access` that gives less than was requested. */
export const READ_ONLY = 'read'

function whoAsks(request: AuthorizationRequest): Html {
  const recognition = matchKnownClient(request.clientName)
  const host = hostOfClient(request.clientId)
  return html`<div class="asker">${recognition.kind === 'known' ? html`<img src="/assets/clients/${recognition.client.initial}.svg" alt="" width="48" height="48">` : null}
<p><strong>${request.clientName}</strong> (name not verified)${host === null ? null : html` of <strong class="host">${host}</strong>`} asks for access to your account.</p></div>
${host === null ? null : whoseAddress(host, request.redirectUri)}
${
  recognition.kind === 'known'
    ? html`<p class="caution">This calls itself ${recognition.client.name}, a known AI client. Anyone can choose that name: approve only if
you started this yourself, in that application, a moment ago.</p>`
    : null
}
${
  recognition.kind === 'contains'
    ? html`<p class="caution">This name contains ${recognition.client.name}, the name of a known AI client, but is another one. Anyone can choose
such a name: approve only if you know who makes this application.</p>`
    : null
}
${
  recognition.kind === 'lookalike'
    ? html`<p class="caution"><strong>Warning:</strong> this name is written to look like ${recognition.client.name} and is not. Deny it unless you
know exactly who sent you here.</p>`
    : null
}
<p>You will be sent to <code>${hostOf(request.redirectUri)}</code>.</p>
${
  isLoopback(request.redirectUri)
    ? html`<p class="caution">It runs on this computer. Any program on this computer can pretend to be it.</p>`
    : null
}`
}

/** What its host name proves of a client whose id is the address of a document, and what it does not. */
function whoseAddress(host: string, redirectUri: string): Html {
  const target = new URL(redirectUri)
  const isElsewhere = target.protocol === 'https:' && target.host !== host
  return html`<p>Its description was read at <code>${host}</code>. Approve only if you know this address and trust its owner.</p>
${
  host.includes('xn--')
    ? html`<p class="caution">This address has letters that are not Latin, shown in their technical form (<code>xn--</code>). It can look like
another address elsewhere.</p>`
    : null
}
${isElsewhere ? html`<p class="caution">It sends you on to another address than its own: <code>${target.host}</code>.</p>` : null}`
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
${testFirst(memberships).map(
  each => html`<label class="choice"><input type="checkbox" name="platforms" value="${platformChoice(each)}"${only ? html` checked` : null}>
<span>${each.platformName} – ${environment(each)}</span></label>`,
)}
</fieldset>`
}

/** LIVE is chosen on purpose, and not because it comes first. */
const testFirst = (memberships: readonly Membership[]): readonly Membership[] =>
  memberships.toSorted(
    (one, other) =>
      one.platformName.localeCompare(other.platformName) || other.environment.localeCompare(one.environment),
  )

const environment = (each: Membership): Html =>
  each.environment === 'LIVE'
    ? html`<strong class="live">LIVE</strong> real customers and invoices`
    : html`${each.environment}`
