/** Where frames stand, and where the keys lead. */
import { describe, expect, it } from "vitest";
import type { Frame } from "./data";
import { boxesOf, difference, frameAt, moved, ownerOf, pathKey, stepOf, tintsOf } from "./flame_layout";

const tree: Frame = {
  name: "all",
  value: 100,
  children: [
    {
      name: "net/http.serve",
      value: 60,
      children: [{ name: "encoding/json.Marshal", value: 20, children: [] }],
    },
    { name: "runtime.gc", value: 30, children: [] },
    { name: "tiny", value: 0, children: [] },
  ],
};

describe("boxes", () => {
  it("are as wide as their shares and lie within their callers", () => {
    const boxes = boxesOf(tree, [], 0.001);
    expect(boxes.map((box) => [box.name, box.left, Number(box.width.toFixed(9))])).toEqual([
      ["all", 0, 1],
      ["net/http.serve", 0, 0.6],
      ["encoding/json.Marshal", 0, 0.2],
      ["runtime.gc", 0.6, 0.3],
    ]);
  });

  it("fill the width when zoomed to, with their callers above", () => {
    const boxes = boxesOf(tree, [0], 0.001);
    expect(boxes.map((box) => [box.name, box.width, box.isAbove])).toEqual([
      ["all", 1, true],
      ["net/http.serve", 1, false],
      ["encoding/json.Marshal", 20 / 60, false],
    ]);
  });

  it("leave out what is too narrow, and never leave their caller, whatever the values", () => {
    expect(boxesOf(tree, [], 0.25).map((box) => box.name)).toEqual(["all", "net/http.serve", "runtime.gc"]);
    const wrong: Frame = { name: "all", value: 10, children: [{ name: "more", value: 90, children: [] }] };
    expect(boxesOf(wrong, [], 0.001)[1]?.width).toBe(1);
    expect(boxesOf({ name: "all", value: 0, children: [tree] }, [], 0.001)).toHaveLength(1);
  });
});

describe("a difference", () => {
  it("has both values of a frame whose callers are the same, and no value where it is new", () => {
    const before: Frame = {
      name: "all",
      value: 50,
      children: [{ name: "runtime.gc", value: 5, children: [] }],
    };
    const merged = difference(tree, before);
    expect(frameAt(merged, [1])?.other).toBe(5);
    expect(frameAt(merged, [0])?.other).toBeNull();
  });

  it("has steps by size and direction", () => {
    expect([stepOf(0.5, 0.5), stepOf(0.5, 0.495), stepOf(0.5, 0.4), stepOf(0.4, 0.5)]).toEqual([0, 1, 3, -3]);
  });
});

describe("keys", () => {
  it("lead to the widest child, the caller and the siblings", () => {
    expect(moved(tree, [], "ArrowDown")).toEqual([0]);
    expect(moved(tree, [0], "ArrowRight")).toEqual([1]);
    expect(moved(tree, [0], "ArrowLeft")).toBeUndefined();
    expect(moved(tree, [2], "ArrowRight")).toBeUndefined();
    expect(moved(tree, [0, 0], "ArrowUp")).toEqual([0]);
    expect(moved(tree, [1], "ArrowDown")).toBeUndefined();
    expect(moved(tree, [0, 0], "Home")).toEqual([]);
    expect(pathKey([0, 2])).toBe("0.2");
  });
});

describe("owners", () => {
  it("are packages and modules", () => {
    expect(ownerOf("github.com/gin-gonic/gin.(*Engine).ServeHTTP")).toBe("github.com/gin-gonic/gin");
    expect(ownerOf("net/http.(*conn).serve")).toBe("net/http");
    expect(ownerOf("std::io::Write::write_all")).toBe("std");
    expect(ownerOf("main")).toBe("main");
    expect(ownerOf("")).toBe("");
  });

  it("have tints of their own as long as there are any", () => {
    const tint = tintsOf(tree, 8);
    const all = ["net/http", "encoding/json", "runtime", "tiny"].map(tint);
    expect(new Set(all).size).toBe(4);
    expect(tint("unknown")).toBe(7);
  });
});
