"""Reports: one self-contained HTML file each, with charts by plotly (extra `report`).

A page loads nothing, follows light and dark, and has a table for every chart.
"""
