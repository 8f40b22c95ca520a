import type { OidcTokenRequest } from '@millrace/protocol/oidc.ts'
import { requestOidcToken } from '../../api/secrets.ts'
import { hideValue } from '../job-api.ts'
import { Exit, JOB } from '../verb.ts'
import type { Verb } from '../verb.ts'

const requestToken: Verb = {
  name: 'oidc request-token',
  usage: '[--audience <audience>]',
  summary: 'Print a token that proves to others which job this is.',
  flags: {
    job: JOB,
    audience: { kind: 'text', summary: 'Who the token is for' },
    lifetime: { kind: 'text', summary: 'Seconds', variable: 'BUILDKITE_OIDC_TOKEN_LIFETIME' },
    claim: {
      kind: 'list',
      summary: 'A further claim; may be repeated',
      variable: 'BUILDKITE_OIDC_TOKEN_CLAIMS',
    },
    'aws-session-tag': {
      kind: 'list',
      summary: 'A claim to send as a session tag; may be repeated',
      variable: 'BUILDKITE_OIDC_TOKEN_AWS_SESSION_TAGS',
    },
    'subject-claim': { kind: 'text', summary: 'The claim to be the subject' },
    format: { kind: 'text', summary: 'jwt or gcp', fallback: 'jwt' },
    'skip-redaction': { kind: 'switch', summary: 'The log may show it' },
  },
  async run({ flags, io, api }) {
    const [audience, lifetime, subject] = ['audience', 'lifetime', 'subject-claim'].map((name) =>
      flags.text(name),
    )
    const seconds = lifetime === '' ? null : Number(lifetime)
    if (seconds !== null && !(seconds >= 0)) throw new Exit(1, 'The lifetime must be a number of seconds.')
    const [claims, tags] = [flags.list('claim'), flags.list('aws-session-tag')]
    const request: OidcTokenRequest = {
      ...(audience ? { audience } : {}),
      ...(seconds === null ? {} : { lifetime: seconds }),
      ...(claims.length === 0 ? {} : { claims }),
      ...(tags.length === 0 ? {} : { aws_session_tags: tags }),
      ...(subject ? { subject_claim: subject } : {}),
    }
    const { token } = await requestOidcToken(api(), flags.need('job'), request)
    if (!flags.isOn('skip-redaction')) await hideValue(io, token)
    io.print(flags.text('format') === 'gcp' ? gcpForm(token) : `${token}\n`)
  },
}

export const oidcVerbs = [requestToken]

/** The output format of an executable credential source of that cloud. */
function gcpForm(token: string): string {
  const value = {
    version: 1,
    success: true,
    token_type: 'urn:ietf:params:oauth:token-type:jwt',
    id_token: token,
  }
  return `${JSON.stringify(value)}\n`
}
