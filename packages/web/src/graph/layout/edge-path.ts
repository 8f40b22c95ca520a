// An edge of the graph as an SVG path.
export type Direction = 'right' | 'down'

interface Point {
  x: number
  y: number
}

/** The points come in pairs: a line across a layer, then a curve to the next layer. */
export function pathOf(points: readonly Point[], direction: Direction): string {
  let path = ''
  let previous: Point = { x: 0, y: 0 }
  for (const [at, point] of points.entries()) {
    const { x, y } = point
    if (at === 0) path = `M${x} ${y}`
    else if (at % 2 === 1) path += `L${x} ${y}`
    else if (direction === 'right') {
      const middle = (previous.x + x) / 2
      path += `C${middle} ${previous.y} ${middle} ${y} ${x} ${y}`
    } else {
      const middle = (previous.y + y) / 2
      path += `C${previous.x} ${middle} ${x} ${middle} ${x} ${y}`
    }
    previous = point
  }
  return path
}

/** The curves stay within the points' rectangle. */
export function boundsOf(points: readonly Point[]) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return { x: left, y: top, width: right - left, height: bottom - top }
}
