"use strict";
// Map of the pixels in which a screenshot and its render differ, by the rules of the measurement: the
// screenshot at the render's scale and under its shift, and beyond the noise of the pair.
const heatMap = (() => {
  // Levels by which equal samples differ: encoders round by this much.
  const TOLERANCE = 2;
  // The most levels by which flat areas of a pair with noise differ, for records that do not name the
  // pair's own, and the share of an edge's contrast.
  const MAX_NOISE_LEVELS = 14;
  const NOISE_CONTRAST = 0.3;
  const EQUAL = [255, 255, 255];
  const WITHIN_NOISE = [205, 213, 223];
  const read = async (image) => {
    await image.decode();
    const bitmap = await createImageBitmap(image, { colorSpaceConversion: "none" });
    const canvas = document.createElement("canvas");
    const { width, height } = Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.drawImage(bitmap, 0, 0);
    return { width, height, data: context.getImageData(0, 0, width, height).data };
  };
  // A picture of this size, whose samples a function of x, y and channel gives.
  const drawn = (width, height, sample) => {
    const data = new Uint8ClampedArray(4 * width * height);
    let place = 0;
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        for (let channel = 0; channel < 3; channel += 1) data[place + channel] = sample(x, y, channel);
        data[place + 3] = 255;
        place += 4;
      }
    }
    return { width, height, data };
  };
  const at = (picture, x, y, channel) => picture.data[4 * (y * picture.width + x) + channel];
  const clamp = (value, most) => Math.min(Math.max(value, 0), most);
  const near = (picture, x, y, channel) =>
    at(picture, clamp(x, picture.width - 1), clamp(y, picture.height - 1), channel);
  const around = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((right) => [right, down]));
  // Each pixel is the mean of four.
  const halved = (picture) =>
    drawn(picture.width >> 1, picture.height >> 1, (x, y, channel) => {
      const row = (down) => at(picture, 2 * x, 2 * y + down, channel) + at(picture, 2 * x + 1, 2 * y + down, channel);
      return Math.floor((row(0) + row(1) + 2) / 4);
    });
  // Each pixel is the mean of itself and its eight neighbors.
  const smoothed = (picture) =>
    drawn(picture.width, picture.height, (x, y, channel) => {
      let sum = 0;
      for (const [right, down] of around) sum += near(picture, x + right, y + down, channel);
      return Math.floor(sum / 9);
    });
  // The most frequent color of a picture's border.
  const rimColor = (picture) => {
    const counts = new Map();
    const count = (x, y) => {
      const color = [0, 1, 2].map((channel) => at(picture, x, y, channel)).join();
      counts.set(color, (counts.get(color) || 0) + 1);
    };
    for (let x = 0; x < picture.width; x += 1) [0, picture.height - 1].forEach((y) => count(x, y));
    for (let y = 0; y < picture.height; y += 1) [0, picture.width - 1].forEach((x) => count(x, y));
    const [color] = Array.from(counts).reduce((best, other) => (other[1] > best[1] ? other : best));
    return color.split(",").map(Number);
  };
  // The screenshot in the place and the size of the render; beyond it is the color of the render's border.
  const aligned = (screenshot, render, [right, down]) => {
    const rim = rimColor(render);
    return drawn(render.width, render.height, (x, y, channel) => {
      const isInside = x + right >= 0 && y + down >= 0
        && x + right < screenshot.width && y + down < screenshot.height;
      return isInside ? at(screenshot, x + right, y + down, channel) : rim[channel];
    });
  };
  const levels = (one, other, x, y) => {
    let most = 0;
    for (let channel = 0; channel < 3; channel += 1) {
      most = Math.max(most, Math.abs(at(one, x, y, channel) - at(other, x, y, channel)));
    }
    return most;
  };
  // True if a pixel of one picture lies outside the range of its neighborhood in the other.
  const isOutside = (one, other, x, y, noise) => [0, 1, 2].some((channel) => {
    let [low, high] = [255, 0];
    for (const [right, down] of around) {
      const value = near(other, x + right, y + down, channel);
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const [value, allowed] = [at(one, x, y, channel), noise + Math.floor(NOISE_CONTRAST * (high - low))];
    return value + allowed < low || value > high + allowed;
  });
  const standsOut = (one, other, x, y, noise) =>
    levels(one, other, x, y) > noise && (isOutside(one, other, x, y, noise) || isOutside(other, one, x, y, noise));
  // From yellow to red.
  const warmth = (difference) => [255, Math.round(255 * 0.65 * (1 - difference / 255)), 0];
  // `noise` is the levels of the pair's noise, 0 without any.
  const colors = (one, other, noise) => {
    if (noise === 0) {
      return (x, y) => {
        const difference = levels(one, other, x, y);
        return difference <= TOLERANCE ? EQUAL : warmth(difference);
      };
    }
    const smooth = [smoothed(one), smoothed(other)];
    return (x, y) => {
      if (standsOut(...smooth, x, y, noise)) return warmth(levels(...smooth, x, y));
      return levels(one, other, x, y) <= TOLERANCE ? EQUAL : WITHIN_NOISE;
    };
  };
  // Draws the map at the render's size.
  return async (canvas, screenshot, render, { scale = 1, shift = [0, 0], noise = 0, noise_levels: noiseLevels }) => {
    const [whole, drawing] = await Promise.all([read(screenshot), read(render)]);
    const sized = scale === 2 ? halved(whole) : whole;
    const one = aligned(sized, drawing, shift.map((part) => Math.round(part / scale)));
    const color = colors(one, drawing, noise > 0 ? noiseLevels ?? MAX_NOISE_LEVELS : 0);
    let shown = EQUAL;
    const map = drawn(drawing.width, drawing.height, (x, y, channel) => {
      if (channel === 0) shown = color(x, y);
      return shown[channel];
    });
    Object.assign(canvas, { width: map.width, height: map.height });
    canvas.getContext("2d").putImageData(new ImageData(map.data, map.width, map.height), 0, 0);
  };
})();
