import { describe, expect, it } from 'vitest'
import { rightsText } from './host-types.ts'

const nothing = { token: null, app_id: null, webhook_secret: null, checkout_enabled: true }

describe('rightsText', () => {
  it('says what a connection may do with what it has', () => {
    expect(rightsText({ type: 'gitea', ...nothing })).toBe('Nothing yet')
    expect(rightsText({ type: 'gitea', ...nothing, token: 'XXXX' })).toBe(
      'Sends commit statuses, lets jobs read their repository',
    )
    expect(rightsText({ type: 'gitea', ...nothing, token: 'XXXX', checkout_enabled: false })).toBe(
      'Sends commit statuses',
    )
    expect(rightsText({ type: 'git', ...nothing, webhook_secret: 'XXXX' })).toBe(
      'Checks the signatures of webhooks',
    )
    expect(rightsText({ type: 'github_app', ...nothing, app_id: '1' })).toBe(
      'Sends commit statuses, writes checks, lets jobs read their repository',
    )
  })
})
