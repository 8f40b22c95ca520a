// The pages of an organization's settings, in their order. The settings list them, and the palette finds them.
import type { Answer } from '../api/call.ts'

type Viewer = NonNullable<Answer<'GET /v2/organizations/{org}'>['viewer']>
export type Rights = Viewer['may']

interface SettingsPage {
  /** The last word of the address. */
  name: string
  title: string
  /** Whether the person may open it. */
  isOpenTo: (may: Rights) => boolean
  /** Who may, for those who may not. */
  refusal: string
}

const administrators = (may: Rights) => may.administer
const viewers = (may: Rights) => may.view_teams
const onlyAdministrators = 'Only administrators of the organization may open it.'
const onlyViewers = 'Only administrators of the organization may see its members and teams.'

export const settingsPages = [
  { name: 'general', title: 'General', isOpenTo: administrators, refusal: onlyAdministrators },
  { name: 'members', title: 'Members', isOpenTo: viewers, refusal: onlyViewers },
  { name: 'invitations', title: 'Invitations', isOpenTo: administrators, refusal: onlyAdministrators },
  {
    name: 'service-accounts',
    title: 'Service accounts',
    isOpenTo: viewers,
    refusal: onlyViewers,
  },
  { name: 'token-issuers', title: 'Trusted issuers', isOpenTo: administrators, refusal: onlyAdministrators },
  { name: 'programs', title: 'Connected programs', isOpenTo: administrators, refusal: onlyAdministrators },
  { name: 'teams', title: 'Teams', isOpenTo: viewers, refusal: onlyViewers },
  { name: 'sso', title: 'Single sign-on', isOpenTo: administrators, refusal: onlyAdministrators },
  { name: 'api', title: 'API access', isOpenTo: administrators, refusal: onlyAdministrators },
  { name: 'pipelines', title: 'Pipelines', isOpenTo: administrators, refusal: onlyAdministrators },
  { name: 'templates', title: 'Pipeline templates', isOpenTo: () => true, refusal: '' },
  {
    name: 'connections',
    title: 'Repository connections',
    isOpenTo: administrators,
    refusal: onlyAdministrators,
  },
  {
    name: 'services',
    title: 'Notification services',
    isOpenTo: (may: Rights) => may.manage_services,
    refusal: 'Only administrators may open it, as long as the organization does not let all members.',
  },
  { name: 'retention', title: 'Retention', isOpenTo: administrators, refusal: onlyAdministrators },
  {
    name: 'audit-log',
    title: 'Audit log',
    isOpenTo: (may: Rights) => may.view_audit_log,
    refusal: onlyAdministrators,
  },
  { name: 'rules', title: 'Rules', isOpenTo: () => true, refusal: '' },
  { name: 'archive', title: 'Archive', isOpenTo: () => true, refusal: '' },
] as const satisfies readonly SettingsPage[]

export type SettingsName = (typeof settingsPages)[number]['name']

export const settingsPath = (org: string, name: string) => `/organizations/${org}/settings/${name}`

export const openSettings = (may: Rights) => settingsPages.filter(({ isOpenTo }) => isOpenTo(may))
