// Looks for what keeps people with a disability from using a page.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface AxeResults {
  violations: Array<{ id: string; impact: string; nodes: Array<{ html: string }> }>
}

/** What is serious or critical, as a line each. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  // Menus keep the focus between hidden elements, which pass it on at once.
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ exclude: ['[data-focus-trap]'] }, { resultTypes: ['violations'] })`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
