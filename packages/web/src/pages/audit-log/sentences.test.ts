import { expect, it } from 'vitest'
import { eventSentence } from './sentences.ts'

const said = (type: string, name: string | null = 'Web', actor: string | null = 'Ada') =>
  eventSentence({ type, actor: actor === null ? null : { name: actor }, subject: { name } })

it('says who did what to what', () => {
  expect(said('TeamCreatedEvent')).toBe('Ada created the team Web')
  expect(said('ClusterQueueUpdatedEvent')).toBe('Ada changed the queue Web')
  expect(said('PipelineTemplateDeletedEvent')).toBe('Ada deleted the pipeline template Web')
  expect(said('OrganizationMemberCreatedEvent', 'Grace')).toBe('Ada added Grace to the organization')
  expect(said('SecretReadEvent', 'KEY')).toBe('Ada read the secret KEY')
  expect(said('OrganizationInvitationRevokedEvent', 'a@example.com')).toBe(
    'Ada revoked the invitation of a@example.com',
  )
})

it('has words for what nobody has named, for the operator, and for types that it does not know', () => {
  expect(said('SuiteCreatedEvent', null)).toBe('Ada created the suite')
  expect(said('ClusterCreatedEvent', 'Default', null)).toBe('The operator created the cluster Default')
  expect(said('RocketLaunchedEvent', '$& one')).toBe('Ada launched the rocket $& one')
})
