import type { BadgeStatus, Look } from './rules.ts'

const height = 20
const radius = 3
const label = 'build'

/** About as wide as the words in the usual fonts. */
const widthOf = (text: string) => Math.round(text.length * 6.6 + 12)

export function renderBadge(status: BadgeStatus, { isSquare, colors }: Look): string {
  const [left, right] = [widthOf(label), widthOf(status)]
  const corner = isSquare ? 0 : radius
  const word = (text: string, x: number, color: string) =>
    `<text x="${x}" y="14" fill="#${color}" text-anchor="middle">${text}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}: ${status}">`,
    `<title>${label}: ${status}</title>`,
    `<clipPath id="c"><rect width="${left + right}" height="${height}" rx="${corner}"/></clipPath>`,
    `<g clip-path="url(#c)"><rect width="${left}" height="${height}" fill="#${colors.label}"/>`,
    `<rect x="${left}" width="${right}" height="${height}" fill="#${colors[status]}"/></g>`,
    `<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">`,
    word(label, left / 2, colors.labelText),
    word(status, left + right / 2, colors.statusText),
    '</g></svg>',
  ].join('')
}
