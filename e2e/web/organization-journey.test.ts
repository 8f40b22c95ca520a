import { expect, it } from 'vitest'
import { withBrowser } from './browser.ts'
import { keyboard, mouse } from './hands.ts'
import { organizationJourney } from './organization-journey.ts'

withBrowser.describe('an organization, from an empty installation to its audit log', () => {
  it('is made in the browser', async () => {
    expect(await organizationJourney(mouse)).toEqual([])
  })

  it('is made by the keyboard alone', async () => {
    expect(await organizationJourney(keyboard)).toEqual([])
  })
})
