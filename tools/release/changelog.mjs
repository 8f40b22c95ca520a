// Reads and changes CHANGELOG.md: a section per version, newest first, below one of unreleased changes.

const unreleasedHeading = '## Unreleased'
const versionHeading = /^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/gm
const upgradingHeading = '### Upgrading'
const width = 120

/** Newest first. */
export const releasedVersions = (text) => [...text.matchAll(versionHeading)].map(([, version]) => version)

export function hasUnreleased(text) {
  const { unreleased } = split(text)
  return unreleased.split('\n').some((line) => line.trim() !== '' && !line.startsWith('#'))
}

/** Makes the unreleased changes a section of this version, which begins with how to upgrade. */
export function releaseChanges(text, { version, date, upgrading }) {
  const { before, unreleased, after } = split(text)
  const { own, rest } = takeUpgrading(unreleased)
  const paragraphs = [wrap(upgrading), ...(own === '' ? [] : [own])]
  const section = [`## ${version} (${date})`, upgradingHeading, ...paragraphs, rest].join('\n\n')
  return `${before}${unreleasedHeading}\n\n${section}\n${after === '' ? '' : `\n${after}`}`
}

function split(text) {
  const start = text.indexOf(`${unreleasedHeading}\n`)
  if (start === -1) throw new Error(`CHANGELOG.md has no section "${unreleasedHeading}".`)
  const inside = start + unreleasedHeading.length
  const next = text.indexOf('\n## ', inside)
  const end = next === -1 ? text.length : next + 1
  return { before: text.slice(0, start), unreleased: text.slice(inside, end).trim(), after: text.slice(end) }
}

/** People may have written more about the upgrade. */
function takeUpgrading(unreleased) {
  const parts = unreleased.split(/^(?=### )/m)
  const isUpgrading = (part) => part.startsWith(`${upgradingHeading}\n`)
  const own = parts.find(isUpgrading)?.slice(upgradingHeading.length).trim() ?? ''
  const rest = parts.filter((part) => !isUpgrading(part)).join('')
  return { own, rest: rest.trim() }
}

function wrap(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join('\n')
}
