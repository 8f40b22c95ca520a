// What people read has no name of an emoji in it. A new provider or target does not compile before this test knows it.
import { describe, expect, it } from 'vitest'
import type { ProviderId } from '../names.ts'
import type { Target } from '../outbox/targets.ts'
import type { Service } from '../provider.ts'
import { campfireBody } from '../providers/campfire-text.ts'
import { changeEvent } from '../providers/change-event.ts'
import { chatText } from '../providers/chat-text.ts'
import { issueText } from '../providers/issue-text.ts'
import { findSender } from '../providers/table.ts'
import { mailOf } from './mail-text.ts'
import type { Message } from './message.ts'
import { readable } from './readable.ts'

const message: Message = {
  id: '1',
  event: 'build.finished',
  occurredAt: '2026-01-02T03:04:05.678Z',
  states: ['build_failed'],
  sender: { id: '1', name: 'Ada' },
  organization: { name: 'Acme', slug: 'acme', web_url: 'https://ci.example.com/acme' },
  pipeline: { name: ':jest: Web', slug: 'web' },
  build: {
    number: 1,
    state: 'failed',
    branch: 'main',
    commit: 'abc',
    message: ':jest: Add tests',
    web_url: 'u',
  },
  job: { name: ':jest: Unit' },
  step: {
    id: '1',
    key: null,
    label: ':jest: Unit %n',
    name: ':jest: Unit 0–3',
    state: 'finished',
    outcome: null,
  },
  failed_jobs: [
    { id: '1', name: ':jest: Unit 1', state: 'failed', exit_status: 1, soft_failed: false, web_url: 'u' },
  ],
}
const ofBuild: Message = { ...message }
delete ofBuild.step

const preview = (provider: ProviderId, settings: Service['settings']) => (given: Message) =>
  findSender(provider)?.preview?.(
    { id: '1', provider, organizationId: '1', buildStates: [], settings, creator: null },
    given,
  ) ?? ''

type Write = (given: Message) => string
/** Programs read the texts as they were typed. */
type Reads = Write | 'programs'

const providers: Record<ProviderId, Reads> = {
  webhook: 'programs',
  chat: preview('chat', { theme: 'text' }),
  cloud_event_bus: 'programs',
  monitoring_pipeline_visibility: 'programs',
  open_telemetry_tracing: 'programs',
  event_log_api: 'programs',
  chat_workspace: preview('chat_workspace', { channel: '#builds' }),
  issue_tracker: (given) => JSON.stringify(issueText(readable(given))),
}

const targets: Record<Target['kind'], Reads> = {
  email: (given) => JSON.stringify(mailOf(readable(given))),
  slack: (given) => chatText(readable(given), 'emoji'),
  webhook: 'programs',
  basecamp_campfire: (given) => campfireBody(readable(given)),
  pagerduty_change_event: (given) => changeEvent('key', readable(given)),
}

const texts = [...Object.entries(providers), ...Object.entries(targets)].flatMap(([name, write]) =>
  write === 'programs' ? [] : [{ name, write }],
)

describe.each(texts)('what $name writes for people', ({ write }) => {
  it.each([
    ['a build', ofBuild],
    ['a step', message],
  ])('shows the emoji in the texts of %s', (_, given) => {
    const text = write(given)
    expect(text).toContain('🃏')
    expect(text).not.toContain(':jest:')
  })
})

it('shows the values of all jobs of a step, and its label for messages that have none', () => {
  expect(chatText(readable(message), 'text')).toContain('🃏 Unit 0–3 of 🃏 Web #1')
  const { name: _, ...older } = message.step ?? { id: '', key: null, label: null, state: '', outcome: null }
  expect(chatText(readable({ ...message, step: older }), 'text')).toContain('🃏 Unit %n of')
})
