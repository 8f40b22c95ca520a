// What an administrator sees after trying single sign-on out.
import type { SsoOrganization, SsoRow } from '../resources/people/sso/queries.ts'
import { isTrusted, teamsOfGroups, type Claims } from '../resources/people/sso/rules.ts'
import { html, type Html } from './html.ts'
import type { PageAnswer } from './page.ts'

const mostShown = 20

/** `outcome`: the member that would be signed in, or why nobody would. */
export function testedSso(
  org: SsoOrganization,
  sso: SsoRow,
  claims: Claims,
  outcome: { name: string } | string,
): PageAnswer {
  const teams = teamsOfGroups(claims.groups, sso.group_teams).length
  const isSure = isTrusted(claims, sso.email_domains) ? 'verified' : 'not verified'
  const shown = claims.groups.slice(0, mostShown).join(', ')
  const more = claims.groups.length > mostShown ? ` and ${claims.groups.length - mostShown} more` : ''
  return {
    title: `The test of single sign-on of ${org.name}`,
    content: html`${outcomeText(outcome)}
      <p class="note">Nothing was changed, and nobody was signed in. The provider says:</p>
      <ul>
        ${line('Subject', claims.subject)} ${line('Name', claims.name ?? 'not told')}
        ${line('Email', claims.email === null ? 'not told' : `${claims.email}, ${isSure}`)}
        ${line(`Groups (${sso.groups_claim})`, shown === '' ? 'none' : shown + more)}
        ${line('Teams by these groups', String(teams))}
      </ul>
      <p><a href="/organizations/${org.slug}/settings/sso">Back to the settings</a></p>`,
  }
}

const outcomeText = (outcome: { name: string } | string): Html =>
  typeof outcome === 'string'
    ? html`<p class="problem" role="status">You would not be let in. ${outcome}</p>`
    : html`<p class="said" role="status">It works: you would be signed in as ${outcome.name}.</p>`

const line = (name: string, value: string): Html =>
  html`<li><span class="note">${name}</span> <span>${value}</span></li>`
