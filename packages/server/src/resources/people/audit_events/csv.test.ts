import { expect, it } from 'vitest'
import { auditCsv } from './csv.ts'

const event = {
  id: '01890000-0000-7000-8000-000000000001',
  type: 'TEAM_CREATED',
  occurred_at: '2026-01-02T03:04:05.678Z',
  actor: { type: 'User', uuid: '01890000-0000-7000-8000-000000000002', name: '=cmd()' },
  subject: { type: 'Team', uuid: '01890000-0000-7000-8000-000000000003', name: 'Say "hello", team' },
  context: null,
  data: { name: 'x' },
}

it('quotes what needs it, and disarms what a spreadsheet would run', () => {
  const [head, line, end] = auditCsv([event]).split('\r\n')
  expect(head).toMatch(/^occurred_at,type,actor_type,/)
  expect(line).toBe(
    '2026-01-02T03:04:05.678Z,TeamCreatedEvent,User,01890000-0000-7000-8000-000000000002,' +
      `'=cmd(),Team,01890000-0000-7000-8000-000000000003,"Say ""hello"", team",,"{""name"":""x""}",${event.id}`,
  )
  expect(end).toBe('')
})

it('has only the heads when there is no event', () => {
  expect(auditCsv([]).trim().split(',')).toHaveLength(11)
})
