// Colours that a log asks for, made legible: their lightness moves until the contrast with the background is 4.5.

export interface Color {
  /** Lightness, chroma and hue in OKLCH. */
  l: number
  c: number
  h: number
}

const enough = 4.5

export function readHex(hex: string): Color | null {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(hex)
  if (match === null) return null
  const [r = 0, g = 0, b = 0] = match.slice(1).map((part) => linear(Number.parseInt(part, 16) / 255))
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const medium = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  const l = 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short
  const a = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short
  const bb = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short
  return { l, c: Math.hypot(a, bb), h: ((Math.atan2(bb, a) * 180) / Math.PI + 360) % 360 }
}

export const formatColor = ({ l, c, h }: Color): string =>
  `oklch(${l.toFixed(3)} ${c.toFixed(3)} ${h.toFixed(1)})`

/** The colour itself, or the nearest lightness of it that can be read on the background. */
export function legible(color: Color, background: Color): Color {
  if (contrast(color, background) >= enough) return color
  const ground = luminance(background)
  const step = ground > 0.18 ? -0.01 : 0.01
  let { l } = color
  while (contrast({ ...color, l }, background) < enough && l + step >= 0 && l + step <= 1) l += step
  return { ...color, l }
}

export function contrast(one: Color, other: Color): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

/** Relative luminance as WCAG defines it, of the colour cut to what a screen shows. */
function luminance({ l, c, h }: Color): number {
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  const red = shown(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short)
  const green = shown(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short)
  const blue = shown(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const shown = (value: number) => Math.min(Math.max(value, 0), 1)

const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
