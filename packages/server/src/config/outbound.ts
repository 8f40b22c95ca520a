// What the server sends to others: notifications, and requests to addresses that users set.
import { resolve } from 'node:path'
import { httpUrl, ranges, safeUrl, subject, text, type Reader, type Setting } from './settings.ts'

/** Providers of notification services that are connected with OAuth. */
export const oauthProviders = ['chat_workspace', 'issue_tracker'] as const
export type OAuthProvider = (typeof oauthProviders)[number]

export const isOAuthProvider = (id: string): id is OAuthProvider =>
  oauthProviders.some((known) => known === id)

export interface OAuthApp {
  readonly clientId: string
  /** Separated as the site expects: by commas or spaces. */
  readonly scopes: string
  /** The expected `iss` parameter, for sites that send one with the redirect. */
  readonly issuer: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly revokeUrl: string
  readonly apiUrl: string
}

const directories: Setting<readonly string[]> = {
  absent: [],
  shown: 'none',
  description:
    'Directories, separated by colons, whose git repositories pipelines may poll. `MILLRACE_OUTBOUND_ALLOW` decides about repositories on other hosts',
  parse: (given) =>
    given
      .split(':')
      .filter(Boolean)
      .map((path) => resolve(path)),
}

const sshOrganizations: Setting<readonly string[]> = {
  absent: [],
  shown: 'none',
  description:
    "The slugs of organizations, separated by commas, whose polls of ssh addresses use the server user's ssh keys. All their members reach what these keys reach",
  parse: (given) =>
    given
      .split(',')
      .map((slug) => slug.trim())
      .filter(Boolean),
}

export const outboundSettings = subject('Notifications and outbound requests', {
  MILLRACE_OUTBOUND_ALLOW: ranges(
    'Private address ranges that URLs set by users (webhooks, chats, traces) may use, such as `10.0.0.0/8`',
  ),
  MILLRACE_POLL_DIRECTORIES: directories,
  MILLRACE_POLL_SSH_ORGANIZATIONS: sshOrganizations,
  MILLRACE_WEBHOOK_IPS: ranges('Address ranges that our webhooks come from, shown by `GET /v2/meta`'),
  MILLRACE_SMTP_URL: text(
    undefined,
    'The SMTP server (`smtp://user:password@host:587`). Without it and the next `notify: [{email: …}]` sends nothing',
    {
      must: [
        'look like smtp://user:password@host:587 or smtps://…',
        (url) => URL.canParse(url) && /^smtps?:/.test(url),
      ],
      isSecret: true,
    },
  ),
  MILLRACE_MAIL_FROM: text(null, 'The sender address of mails'),
  MILLRACE_EVENT_BUS_ENDPOINT: httpUrl(
    null,
    'Where `cloud_event_bus` services put events. The AWS SDK finds the credentials: environment, files, roles',
    "Amazon's, by region",
  ),
  MILLRACE_EVENT_BUS_NAME: text(
    'default',
    "The bus in the service's account, which must accept events from the credentials",
  ),
  MILLRACE_EVENT_BUS_SOURCE: text('millrace', 'The `Source` of the events'),
  MILLRACE_PAGER_URL: safeUrl(
    'https://events.pagerduty.com',
    'Where `notify: [{pagerduty_change_event: …}]` goes',
  ),
})

interface Site {
  scopes: string
  authorizeUrl: string
  tokenUrl: string
  revokeUrl: string
  apiUrl: string
}

/** The URLs may be those of another site with the same API. */
const siteSettings = (title: string, prefix: string, site: Site) =>
  subject(
    title,
    {
      CLIENT_ID: text('', 'The app that people connect with. Without it and its secret nobody can'),
      CLIENT_SECRET: text('', 'Its secret'),
      AUTHORIZE_URL: safeUrl(site.authorizeUrl, 'Where people authorize the app'),
      TOKEN_URL: safeUrl(site.tokenUrl, 'Where the app gets tokens'),
      REVOKE_URL: safeUrl(site.revokeUrl, 'Where the app revokes tokens'),
      API_URL: safeUrl(site.apiUrl, "The site's API"),
      SCOPES: text(site.scopes, 'What the app asks for'),
      ISSUER: text(null, 'The expected `iss` parameter, for sites that send one', {
        shown: 'the origin of `…_AUTHORIZE_URL`',
      }),
    },
    prefix,
  )

export const chatWorkspaceSettings = siteSettings('Chat workspaces', 'MILLRACE_CHAT_WORKSPACE_', {
  scopes: 'chat:write,chat:write.public',
  authorizeUrl: 'https://slack.com/oauth/v2/authorize',
  tokenUrl: 'https://slack.com/api/oauth.v2.access',
  revokeUrl: 'https://slack.com/api/auth.revoke',
  apiUrl: 'https://slack.com/api',
})

export const issueTrackerSettings = siteSettings('Issue trackers', 'MILLRACE_ISSUE_TRACKER_', {
  scopes: 'read,write',
  authorizeUrl: 'https://linear.app/oauth/authorize',
  tokenUrl: 'https://api.linear.app/oauth/token',
  revokeUrl: 'https://api.linear.app/oauth/revoke',
  apiUrl: 'https://api.linear.app/graphql',
})

export function readOutbound(reader: Reader) {
  const values = reader.read(outboundSettings)
  const { MILLRACE_SMTP_URL: smtpUrl, MILLRACE_MAIL_FROM: mailFrom } = values
  reader.requireBoth(['MILLRACE_SMTP_URL', smtpUrl], ['MILLRACE_MAIL_FROM', mailFrom])
  const chat = readOAuthApp(reader, chatWorkspaceSettings)
  const tracker = readOAuthApp(reader, issueTrackerSettings)
  return {
    outboundAllow: values.MILLRACE_OUTBOUND_ALLOW,
    pollDirectories: values.MILLRACE_POLL_DIRECTORIES,
    pollSshOrganizations: values.MILLRACE_POLL_SSH_ORGANIZATIONS,
    webhookIps: values.MILLRACE_WEBHOOK_IPS,
    /** null: no mails are sent. */
    mailFrom,
    eventBus: {
      /** null: Amazon's, by region. */
      endpoint: values.MILLRACE_EVENT_BUS_ENDPOINT,
      name: values.MILLRACE_EVENT_BUS_NAME,
      source: values.MILLRACE_EVENT_BUS_SOURCE,
    },
    pagerUrl: values.MILLRACE_PAGER_URL,
    /** Our apps at sites that services are connected to on a web page; null: not configured. */
    oauth: { chat_workspace: chat.app, issue_tracker: tracker.app },
    secrets: { smtpUrl, oauth: { chat_workspace: chat.secret, issue_tracker: tracker.secret } },
  }
}

function readOAuthApp(
  reader: Reader,
  site: ReturnType<typeof siteSettings>,
): { app: OAuthApp | null; secret: string } {
  const values = reader.read(site)
  const { CLIENT_ID: clientId, CLIENT_SECRET: secret, AUTHORIZE_URL: authorizeUrl } = values
  reader.requireBoth([`${site.prefix}CLIENT_ID`, clientId], [`${site.prefix}CLIENT_SECRET`, secret])
  if (clientId === '') return { app: null, secret }
  const app = {
    clientId,
    scopes: values.SCOPES,
    issuer: values.ISSUER ?? new URL(authorizeUrl).origin,
    authorizeUrl,
    tokenUrl: values.TOKEN_URL,
    revokeUrl: values.REVOKE_URL,
    apiUrl: values.API_URL,
  }
  return { app, secret }
}
