import { createHash } from 'node:crypto'

const side = 5

/** An SVG of squares in one color, mirrored left to right. The same text always gives the same image. */
export function renderAvatar(text: string): string {
  const bytes = createHash('sha256').update(text).digest()
  const hue = Math.round((bytes.readUInt16BE(0) / 65_536) * 360)
  const squares = Array.from({ length: side * side }, (_, index) => [index % side, Math.floor(index / side)])
    .filter(([x = 0, y = 0]) => bytes.readUInt8(2 + y * 3 + Math.min(x, side - 1 - x)) % 2 === 0)
    .map(([x, y]) => `M${x} ${y}h1v1h-1z`)
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 ${side + 2} ${side + 2}" shape-rendering="crispEdges">` +
    `<path fill="hsl(${hue},40%,92%)" d="M-1-1h${side + 2}v${side + 2}h-${side + 2}z"/>` +
    `<path fill="hsl(${hue},55%,45%)" d="${squares.join('')}"/></svg>`
  )
}
